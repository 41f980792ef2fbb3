"""Confidence and top-label reliability from the definition. A row is (confidence, (predicted class, right), number of rows)."""


def rows_of_table(prob, label, weight):
    rows = []
    for p, y, w in zip(prob, label, weight, strict=True):
        top = max(range(len(p)), key=p.__getitem__)
        rows.append((p[top], (top, y == top), w))
    return rows


def diagram(rows, cut):
    """What is drawn of each bin that holds rows; ``cut`` deals rows into bins by their confidence."""
    total = sum(w for _, _, w in rows)
    return [summary(held) | {"share": sum(w for _, _, w in held) / total} for held in cut(rows) if held]


def summary(held):
    weight = sum(w for _, _, w in held)
    classes = {}
    for j in sorted({j for _, (j, _), _ in held}):
        own = [row for row in held if row[1][0] == j]
        classes[j] = (sum(w for _, _, w in own), sum(w for _, _, w in own), *point(own))
    top_label_gap = sum(w / weight * abs(accuracy - mean) for _, w, mean, accuracy in classes.values())
    mean, accuracy = point(held)
    return {
        "count": weight,
        "mean_prob": mean,
        "accuracy": accuracy,
        "gap": abs(accuracy - mean),
        "top_label_gap": top_label_gap,
        "classes": classes,
    }


def point(rows):
    """Mean probability and accuracy."""
    weight = sum(w for _, _, w in rows)
    return sum(w * s for s, _, w in rows) / weight, sum(w * right for _, (_, right), w in rows) / weight
