"""Isotonic regression by the min-max formula: fit(i) = max over a <= i of min over b >= i of the mean of a..b."""


def fit(score, outcome, weight):
    """Return the distinct scores and the fitted value of each."""
    distinct = sorted(set(score))
    mass = [sum(w for s, w in zip(score, weight, strict=True) if s == d) for d in distinct]
    events = [sum(w * y for s, y, w in zip(score, outcome, weight, strict=True) if s == d) for d in distinct]

    def mean(a, b):
        return sum(events[a : b + 1]) / sum(mass[a : b + 1])

    n = len(distinct)
    return distinct, [max(min(mean(a, b) for b in range(i, n)) for a in range(i + 1)) for i in range(n)]


def step(distinct, values, score):
    """Value of the last fitted score at or below; of the first one below all."""
    below = [v for d, v in zip(distinct, values, strict=True) if d <= score]
    return below[-1] if below else values[0]


def interpolated(distinct, values, score):
    if score <= distinct[0]:
        return values[0]
    for i in range(1, len(distinct)):
        if score <= distinct[i]:
            t = (score - distinct[i - 1]) / (distinct[i] - distinct[i - 1])
            return values[i - 1] + t * (values[i] - values[i - 1])
    return values[-1]
