"""Means before and after calibration by bins, from the definition: plain loops over rows and classes."""


def pairs(notion, prob):
    """Rows and classes that a notion speaks of: a list of (row, class) for each of its problems."""
    n, k = len(prob), len(prob[0])
    if notion == "flattened":
        return [[(i, j) for i in range(n) for j in range(k)]]
    if notion == "class-wise":
        return [[(i, j) for i in range(n)] for j in range(k)]
    tops = [max(range(k), key=lambda j, i=i: (prob[i][j], -j)) for i in range(n)]
    if notion == "confidence":
        return [[(i, tops[i]) for i in range(n)]]
    return [[(i, j) for i in range(n) if tops[i] == j] for j in range(k)]


def means(of, prob, calibrated, label, weight, n_bins, threshold):
    """For each equal bin the weight, the mean before, the mean after and the event rate, of pairs that reach the threshold.

    The first bin begins at the threshold, which belongs to it.
    """
    found = []
    for b in range(n_bins):
        low, high = max(b / n_bins, threshold), (b + 1) / n_bins
        held = [(i, j) for i, j in of if low < prob[i][j] <= high or prob[i][j] == low == threshold < high]
        total = sum(weight[i] for i, _ in held)
        if total:
            before = sum(weight[i] * prob[i][j] for i, j in held) / total
            after = sum(weight[i] * calibrated[i][j] for i, j in held) / total
            rate = sum(weight[i] * (label[i] == j) for i, j in held) / total
            found.append((total, before, after, rate))
    return found
