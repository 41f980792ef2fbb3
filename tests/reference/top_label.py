"""Algorithms 1 to 5 of Gupta and Ramdas, as loops over rows; labels and predicted classes are numbers of columns.

The binary calibrator sorts the rows and cuts them at every share: histogram binning of Algorithm 8. Equal scores stay together,
in the lower bin. Rows are repeated by their weights beforehand.
"""

from reference import histogram as bins
from reference.top_k import ranked


def histogram(points_per_bin):
    """Return the binary calibrator: from scores and outcomes to a map of a score."""

    def fit(scores, outcomes):
        edges = bins.equal_mass_edges(scores, max(1, len(scores) // points_per_bin))
        values = bins.fit(edges, scores, outcomes, "identity")
        return lambda score: bins.calibrated(edges, values, score)

    return fit


def top_label(calibrator, table, labels):
    """Algorithm 1. Return the map of a row to the predicted class and its probability."""
    maps = {}
    for j in range(len(table[0])):
        mine = [i for i, row in enumerate(table) if ranked(row)[0] == j]
        if mine:
            maps[j] = calibrator([table[i][j] for i in mine], [labels[i] == j for i in mine])

    def predict(row):
        top = ranked(row)[0]
        return top, maps[top](row[top])

    return predict


def class_wise(calibrator, table, labels):
    """Algorithm 2. Return the map of a row to a probability of each class."""
    maps = [calibrator([row[j] for row in table], [y == j for y in labels]) for j in range(len(table[0]))]
    return lambda row: [maps[j](row[j]) for j in range(len(row))]


def confidence(calibrator, table, labels):
    """Algorithm 3. Return the map of a row to the predicted class and its probability."""
    tops = [ranked(row)[0] for row in table]
    one = calibrator(
        [row[j] for row, j in zip(table, tops, strict=True)], [y == j for y, j in zip(labels, tops, strict=True)]
    )

    def predict(row):
        top = ranked(row)[0]
        return top, one(row[top])

    return predict


def normalized(calibrator, table, labels):
    """Algorithm 4. Return the map of a row to probabilities that sum to one; uniform where all are zero."""
    raw = class_wise(calibrator, table, labels)

    def predict(row):
        values = raw(row)
        total = sum(values)
        return [value / total if total > 0 else 1 / len(row) for value in values]

    return predict


def top_k(calibrator, table, labels, k, *, given_class):
    """Algorithm 5 for top-K-confidence, or top-K-label. Return the map of a row to K pairs of class and probability."""
    maps = {}
    for rank in range(k):
        claims = [(row[ranked(row)[rank]], ranked(row)[rank], y) for row, y in zip(table, labels, strict=True)]
        for group in {j for _, j, _ in claims} if given_class else {None}:
            mine = [(s, y == j) for s, j, y in claims if group is None or j == group]
            maps[rank, group] = calibrator([s for s, _ in mine], [hit for _, hit in mine])

    def predict(row):
        chosen = ranked(row)[:k]
        return [(j, maps[rank, j if given_class else None](row[j])) for rank, j in enumerate(chosen)]

    return predict
