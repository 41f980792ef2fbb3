"""Sierpinski's triangle by recursion on triangles, in exact fractions."""

from fractions import Fraction

CORNERS = tuple(tuple(Fraction(int(i == j)) for j in range(3)) for i in range(3))


def leaves(depth, triangle=CORNERS, path=""):
    """All cells in their order: the path to each, and its triangle."""
    if depth == 0:
        return [(path, triangle)]
    found = []
    for i in range(3):
        found += leaves(depth - 1, corner(triangle, i), path + str(i))
    middles = tuple(middle(triangle[i], triangle[(i + 1) % 3]) for i in range(3))
    return [*found, (path + "m", middles)]


def path_of(point, depth, triangle=CORNERS):
    """The way to the cell of a point: its corner, as often as it is in one, else the middle."""
    if depth == 0:
        return ""
    point = [Fraction(p) for p in point]
    for i in range(3):
        begins = middle(triangle[i], triangle[(i + 1) % 3])[i]
        if point[i] > begins:
            return str(i) + path_of(point, depth - 1, corner(triangle, i))
    return "m"


def corner(triangle, i):
    """The triangle between a corner and the middles of its two sides."""
    return tuple(middle(triangle[i], other) for other in triangle)


def middle(a, b):
    return tuple((x + y) / 2 for x, y in zip(a, b, strict=True))
