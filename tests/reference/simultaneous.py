"""Bounds of a non-decreasing curve from the rows in intervals of scores, one interval at a time."""

from scipy.stats import beta


def intervals(count, shortest=16, part=4):
    """Lists of intervals (first, last) of distinct scores with ``count`` rows each: a list for each number of rows."""
    total = sum(count)
    length, seen, lists = min(total, shortest), set(), []
    while True:
        found = set()
        starts = [total - length]
        while len(starts) <= total * part and (len(starts) - 1) * max(1, length / part) < total - length:
            starts.append((len(starts) - 1) * max(1, length / part))
        for start in starts:
            first, before = 0, 0
            while before + count[first] <= start:
                before += count[first]
                first += 1
            last, rows = first, count[first]
            while rows < length:
                last += 1
                rows += count[last]
            found.add((first, last))
        if found - seen:
            lists.append(sorted(found - seen))
        seen |= found
        if length == total:
            return lists
        length = min(2 * length, total)


def band(count, events, level):
    lists = intervals(count)
    lower, upper = [0.0] * len(count), [1.0] * len(count)
    for found in lists:
        tail = level / 2 / len(lists) / len(found)
        for first, last in found:
            n, k = sum(count[first : last + 1]), sum(events[first : last + 1])
            low = beta.ppf(tail, k, n - k + 1) if k else 0.0
            high = beta.isf(tail, k + 1, n - k) if k < n else 1.0
            for i in range(last, len(count)):
                lower[i] = max(lower[i], low)
            for i in range(first + 1):
                upper[i] = min(upper[i], high)
    return lower, upper
