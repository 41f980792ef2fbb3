"""Problems of the k highest classes of each row, and of groups of rows. A row is (score, outcome, weight)."""

from itertools import product


def ranked(p):
    """Classes from the highest probability down; of equal ones the first."""
    return sorted(range(len(p)), key=lambda j: -p[j])


def top_k_confidence(prob, label, weight, k=None):
    rows = [(ranked(p), p, y, w) for p, y, w in zip(prob, label, weight, strict=True)]
    return [[(p[order[rank]], y == order[rank], w) for order, p, y, w in rows] for rank in range(k or len(prob[0]))]


def top_k_label(prob, label, weight, k=None):
    rows = [(ranked(p), p, y, w) for p, y, w in zip(prob, label, weight, strict=True)]
    pairs = product(range(k or len(prob[0])), range(len(prob[0])))
    problems = [[(p[j], y == j, w) for order, p, y, w in rows if order[rank] == j] for rank, j in pairs]
    return [held for held in problems if held]


def within_groups(score, outcome, weight, group):
    problems = {}
    for s, y, w, g in zip(score, outcome, weight, group, strict=True):
        problems.setdefault(g, []).append((s, bool(y), w))
    return [problems[g] for g in sorted(problems)]


NOTIONS = {"top-k-confidence": top_k_confidence, "top-k-label": top_k_label}
