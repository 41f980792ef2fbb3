"""Projection histogram binning (Gupta and Ramdas, Algorithm 10, with its errata), from the definition."""

from fractions import Fraction


def product(row, direction):
    """In exact fractions; sums of several terms that agree to 1e-12 are one."""
    terms = [Fraction(float(q)) * Fraction(float(p)) for p, q in zip(row, direction, strict=True) if q != 0]
    return float(terms[0]) if len(terms) == 1 else float(Fraction(round(sum(terms) * 10**12), 10**12))


def cuts(prob, n_bins, directions):
    """Direction and threshold of each cut; a direction along which a cut would leave nothing makes none."""
    left, n_classes = list(prob), len(prob[0])
    n_bins = min(n_bins, max(1, (len(prob) + 1) // 2))
    wanted = (len(prob) + 1) // n_bins
    made, failed = [], 0
    for direction in directions:
        if len(made) == n_bins - 1 or failed == n_classes:
            break
        values = sorted(product(row, direction) for row in left)
        if wanted > len(values) or values[wanted - 1] == values[-1]:
            failed += 1
            continue
        failed = 0
        made.append((direction, values[wanted - 1]))
        left = [row for row in left if product(row, direction) > values[wanted - 1]]
    return made


def cell(row, made):
    return min([b for b, (q, t) in enumerate(made) if product(row, q) <= t], default=len(made))


def is_boundary(row, made):
    return any(product(row, q) == t for q, t in made)


def cyclic(n_classes, n):
    """-e_1, -e_2, ..., and again, n of them."""
    return [[-1.0 if j == i % n_classes else 0.0 for j in range(n_classes)] for i in range(n)]


def class_rates(prob, label, made, n_classes, interior, smoothing):
    """Class rates of each cell, and the rows that they are made of; one over the number of classes where no row is."""
    values, counts = [], []
    for b in range(len(made) + 1):
        all_rows = [(row, y) for row, y in zip(prob, label, strict=True) if cell(row, made) == b]
        rows = [(row, y) for row, y in all_rows if not (interior and is_boundary(row, made))] or all_rows
        counts.append(len(rows))
        if not rows:
            values.append([1 / n_classes] * n_classes)
            continue
        occurred = [sum(y == j for _, y in rows) for j in range(n_classes)]
        values.append([(k + smoothing) / (len(rows) + n_classes * smoothing) for k in occurred])
    return values, counts
