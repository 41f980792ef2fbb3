"""Problems of the k highest classes of each row, and of groups of rows. A row is (score, outcome, weight)."""


def ranked(p):
    """Classes from the highest probability down; of equal ones the first."""
    return sorted(range(len(p)), key=lambda j: -p[j])


def top_k_confidence(prob, label, weight, k=None):
    problems = []
    for rank in range(k or len(prob[0])):
        rows = []
        for p, y, w in zip(prob, label, weight, strict=True):
            j = ranked(p)[rank]
            rows.append((p[j], y == j, w))
        problems.append(rows)
    return problems


def top_k_label(prob, label, weight, k=None):
    problems = []
    for rank in range(k or len(prob[0])):
        for j in range(len(prob[0])):
            rows = [(p[j], y == j, w) for p, y, w in zip(prob, label, weight, strict=True) if ranked(p)[rank] == j]
            if rows:
                problems.append(rows)
    return problems


def within_groups(score, outcome, weight, group):
    problems = {}
    for s, y, w, g in zip(score, outcome, weight, group, strict=True):
        problems.setdefault(g, []).append((s, bool(y), w))
    return [problems[g] for g in sorted(problems)]


NOTIONS = {"top-k-confidence": top_k_confidence, "top-k-label": top_k_label}
