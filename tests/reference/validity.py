"""The validity plot from its definition: the weight of the predictions whose bin is at most so far off."""


def share_within(problems, cut, error):
    total = sum(w for rows in problems for _, _, w in rows)
    if total == 0:
        return 1.0
    within = 0.0
    for rows in problems:
        for held in cut(rows):
            if held and distance(held) <= error + 1e-12:
                within += sum(w for _, _, w in held)
    return within / total


def distance(rows):
    weight = sum(w for _, _, w in rows)
    return abs(sum(w * (y - s) for s, y, w in rows)) / weight
