"""What each fitted calibrator does to a row, as a graph of a few kinds of nodes: printed in languages, run by NumPy in tests.

A node stands for numbers of each row, shape (n, width). Width 1 goes with any other, as in NumPy. There is no loop and no
state. `graph_of` is the whole way from the columns of a row to those of ``calibrate``; `mapped` has a function for each class
of calibrator, of `Given` for maps of the simplex and of a score, or its log-odds, for maps of one score.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, singledispatch
from typing import Any

import numpy as np

from calibrant import notions
from calibrant._core.arrays import EPSILON, LEAST_SCORE, UNITS, ArrayLike, FloatArray, NDArray, score_of_logit
from calibrant._core.checks import refuse
from calibrant.binning import cells
from calibrant.calibrators import base, binning, evidence_features, isotonic, parametric
from calibrant.calibrators.by_notion import ByNotion
from calibrant.calibrators.evidence import WITHIN, EvidenceScaling
from calibrant.calibrators.isotonic import IsotonicRecursivePartitioning, MulticlassRecursivePartitioning
from calibrant.calibrators.linear import LinearScaling, LogitScaling, StructuredScaling
from calibrant.calibrators.nafir import TIE, NormalizedFlattenedIsotonic
from calibrant.calibrators.safe import SafeCalibrator
from calibrant.calibrators.scir import SortedCumulativeIsotonic
from calibrant.fit.splines import pieces_of_natural_spline

CONDITIONS = {"greater", "greater_equal", "equal"}

ELEMENTWISE = CONDITIONS | {
    *("add", "subtract", "multiply", "divide", "maximum", "minimum"),
    *("negative", "absolute", "exp", "log", "sqrt", "floor", "where"),
}
"""Nodes that treat each number by itself. The comparisons are conditions: only ``where`` takes them."""

INEXACT = {"exp", "log", "row_sum", "matmul"}
"""Nodes whose last digits hang on the language that computes them."""


def operator(op: str, *, swapped: bool = False) -> Callable[[Node, Operand], Node]:
    """Return the method of `Node` for a sign between two of them, or before what is no node."""
    return lambda self, other: of(op, other, self) if swapped else of(op, self, other)


class Node:
    """Numbers of each row, made of those of other nodes.

    Attributes
    ----------
    op : str
        ``table`` (the columns that are given),
        ``constant``, ``column``, ``join``, one of `ELEMENTWISE`, ``row_sum``, ``row_max``, ``argmax``
        (the first of equal ones), ``matmul``, or ``pick``.
    args : tuple of Node
        What it is made of.
    values : ndarray or int, optional
        The numbers of a ``constant``, shape (width,); the number of a ``column``; the matrix of ``matmul``, shape (K, width).
        Of ``pick`` the edges, shape (m,), which do not fall, and the table, shape (m + 1,): the entry after all edges that are
        at most the number (or, where ``right`` is false, below it).
    width : int
        How many numbers a row has.
    log_odds : Node, optional
        Where the numbers are the logistic function of others, those.
    """

    log_odds: Node | None = None

    def __init__(self, op: str, args: Sequence[Node] = (), values: Any = None, width: int | None = None) -> None:
        self.op, self.args, self.values = op, tuple(args), values
        self.width: int = max((arg.width for arg in self.args), default=1) if width is None else width
        self.is_exact: bool = op not in INEXACT and all(arg.is_exact for arg in args)

    __add__, __radd__ = operator("add"), operator("add", swapped=True)
    __sub__, __rsub__ = operator("subtract"), operator("subtract", swapped=True)
    __mul__, __rmul__ = operator("multiply"), operator("multiply", swapped=True)
    __truediv__, __rtruediv__ = operator("divide"), operator("divide", swapped=True)
    __ge__, __gt__ = operator("greater_equal"), operator("greater")

    def __neg__(self) -> Node:
        return of("negative", self)

    def column(self, j: int) -> Node:
        """One of the numbers."""
        if self.op == "constant":
            return constant(self.values[min(j, self.width - 1)])
        return self.args[j] if self.op == "join" else self if self.width == 1 else Node("column", [self], j, 1)

    def columns(self) -> list[Node]:
        """Each of the numbers."""
        return [self.column(j) for j in range(self.width)]

    def sum(self) -> Node:
        """The sum of the numbers of a row."""
        return self if self.width == 1 else Node("row_sum", [self], width=1)

    def max(self) -> Node:
        """The largest number of a row."""
        return self if self.width == 1 else Node("row_max", [self], width=1)

    def argmax(self) -> Node:
        """The number of the first column that is the largest."""
        return Node("argmax", [self], width=1)

    def matmul(self, matrix: FloatArray) -> Node:
        """The row times a matrix, shape (K, width)."""
        return Node("matmul", [self], np.asarray(matrix, dtype=np.float64), matrix.shape[1])

    def pick(self, edges: NDArray[np.floating], table: ArrayLike, *, right: bool = True) -> Node:
        """The entry of a table, shape (m + 1,), for the interval between edges, shape (m,), that a number lies in."""
        found = np.asarray(edges, dtype=np.float64), np.asarray(table, dtype=np.float64), right
        return Node("pick", [self], found) if len(found[0]) else constant(found[1]) + 0.0 * self

    def equals(self, other: Operand) -> Node:
        """The condition that both are the same number."""
        return of("equal", self, other)


Operand = Node | float | FloatArray


def constant(values: ArrayLike) -> Node:
    """Make a node of numbers, shape () or (width,), that are the same in each row."""
    numbers = np.atleast_1d(np.asarray(values, dtype=np.float64))
    assert np.isfinite(numbers).all(), "no language prints what is not finite in the same way"
    return Node("constant", values=numbers, width=numbers.size)


def of(op: str, *operands: Operand) -> Node:
    """Make a node that treats each number by itself."""
    return Node(op, [one if isinstance(one, Node) else constant(one) for one in operands])


def join(columns: Sequence[Node]) -> Node:
    """Put columns of width 1 beside each other."""
    if all(one.op == "constant" for one in columns):
        return constant([one.values[0] for one in columns])
    return columns[0] if len(columns) == 1 else Node("join", columns, width=len(columns))


def clip(x: Node, least: float, most: float) -> Node:
    """Raise what is below ``least`` to it, and lower what is above ``most``."""
    return of("minimum", of("maximum", x, least), most)


def where(condition: Node, yes: Operand, no: Operand) -> Node:
    """Take one of two numbers."""
    return of("where", condition, yes, no)


def in_order(root: Node) -> list[Node]:
    """Return each node once, those that it is made of before it."""
    done: dict[int, Node] = {}
    waits: list[tuple[Node, Iterator[Node]]] = [(root, iter(root.args))]
    while waits:  # not by calls: a chain may be longer than Python's stack
        node, rest = waits[-1]
        child = next((one for one in rest if id(one) not in done), None)
        if child is None:
            done[id(node)] = node
            waits.pop()
        else:
            waits.append((child, iter(child.args)))
    return list(done.values())


LEAST = -1e300
"""Below every logit, and a number: no language has one word for infinity."""


OF_OURS = "Take another, or use calibrate in Python"


class Given:
    """The columns of a row as probabilities, log-probabilities and log-odds: what `Forecast` is for arrays."""

    def __init__(self, values: Node, is_logit: bool) -> None:
        self.values, self.is_logit, self.width = values, is_logit, values.width

    @cached_property
    def prob(self) -> Node:
        """Probabilities."""
        return softmax(self.values, least=None) if self.is_logit else self.values

    @cached_property
    def log_prob(self) -> Node:
        """Log-probabilities: of logits exactly, of probabilities clipped."""
        return log_softmax(self.values) if self.is_logit else clipped_log(self.values)

    @cached_property
    def log_odds(self) -> Node:
        """Log-odds of the second of two classes."""
        if self.is_logit:
            return self.values.column(1) - self.values.column(0)
        return difference_of_logs(self.prob.column(1), self.prob.column(0))

    @cached_property
    def log_odds_of_each(self) -> Node:
        """Log-odds of each class against all others, of logits."""
        top = self.values.argmax().equals(constant(np.arange(self.width)))
        below = self.values - self.values.max()
        others = where(top, 0.0, of("exp", below))
        rest = others.sum()
        second = where(top, LEAST, self.values).max()  # seen from the highest logit the others count from the next
        behind = where(top, 0.0, of("exp", of("minimum", self.values - second, 0.0))).sum()
        return where(top, self.values - second - of("log", behind), below - of("log", 1.0 + rest - others))


def clipped_log(prob: Node) -> Node:
    """Logarithms of probabilities that are raised to 1e-12."""
    return of("log", of("maximum", prob, EPSILON))


def difference_of_logs(event: Node, other: Node) -> Node:
    """Log-odds of the first of two probabilities that sum to one; where one of them is clipped the other counts as 1."""
    first = where(other > EPSILON, of("maximum", event, EPSILON), 1.0)
    second = where(event > EPSILON, of("maximum", other, EPSILON), 1.0)
    return of("log", first) - of("log", second)


def log_softmax(scores: Node) -> Node:
    """Log-probabilities of scores."""
    below = scores - scores.max()
    return below - of("log", of("exp", below).sum())


def softmax(scores: Node, least: float | None = LEAST_SCORE) -> Node:
    """Probabilities of scores, which end ``least`` below the highest of their row."""
    below = scores - scores.max()
    powers = of("exp", below if least is None else of("maximum", below, least))
    return powers / powers.sum()


def logistic(z: Node) -> Node:
    """Logistic function: nothing overflows, and torch finds its slope at 0 too."""
    found = of("exp", of("minimum", z, 0.0)) / (1.0 + of("exp", -of("absolute", z)))
    found.log_odds = z
    return found


def ends(log_odds: Node) -> Node:
    """Both probabilities of log-odds."""
    kept = clip(log_odds, -base.MOST_LOG_ODDS, base.MOST_LOG_ODDS)
    return join([logistic(-kept), logistic(kept)])


def normal_quantile(p: Node) -> Node:
    """Quantile of the normal distribution, relative error below 1e-15 (Wichura, Algorithm AS 241, 1988)."""
    q = p - 0.5
    middle = 0.180625 - q * q
    tail = of("sqrt", -of("log", of("minimum", p, 1.0 - p)))
    near, far = tail - 1.6, tail - 5.0
    outer = where(tail > 5.0, ratio(FAR, far), ratio(NEAR, near))
    return where(of("absolute", q) > 0.425, where(q > 0.0, outer, -outer), q * ratio(MIDDLE, middle))


def ratio(coefficients: list[list[Operand]], x: Node) -> Node:
    """Quotient of two polynomials, coefficients from the highest power on."""
    over, under = (polynomial(each, x) for each in coefficients)
    return over / under


def polynomial(coefficients: list[Operand], x: Node) -> Node:
    """Horner's rule, coefficients from the highest power on."""
    value = x * coefficients[0] + coefficients[1]
    for one in coefficients[2:]:
        value = value * x + one
    return value


# fmt: off
MIDDLE, NEAR, FAR = np.reshape([
    2509.0809287301227, 33430.57558358813, 67265.7709270087, 45921.95393154987,
    13731.69376550946, 1971.5909503065513, 133.14166789178438, 3.3871328727963665,
    5226.495278852854, 28729.085735721943, 39307.89580009271, 21213.794301586597,
    5394.196021424751, 687.1870074920579, 42.31333070160091, 1.0,
    0.0007745450142783414, 0.022723844989269184, 0.2417807251774506, 1.2704582524523684,
    3.6478483247632045, 5.769497221460691, 4.630337846156546, 1.4234371107496835,
    1.0507500716444169e-09, 0.0005475938084995345, 0.015198666563616457, 0.14810397642748008,
    0.6897673349851, 1.6763848301838038, 2.053191626637759, 1.0,
    2.0103343992922881e-07, 2.7115555687434876e-05, 0.0012426609473880784, 0.026532189526576124,
    0.29656057182850487, 1.7848265399172913, 5.463784911164114, 6.657904643501103,
    2.0442631033899397e-15, 1.421511758316446e-07, 1.8463183175100548e-05, 0.0007868691311456133,
    0.014875361290850615, 0.1369298809227358, 0.599832206555888, 1.0,
], (3, 2, 8)).tolist()  # of each the numerator and the denominator, from the highest power on
# fmt: on


# The whole way


def graph_of(calibrator: base.Calibrator) -> Node:
    """Return the graph of a fitted calibrator: from the columns that it takes to what its ``calibrate`` gives.

    A row that holds NaN becomes NaN.
    """
    n_columns = calibrator.n_features_in_
    table = Node("table", width=n_columns)
    if n_columns == 1:
        calibrated = of_event(calibrator, table, calibrator.input == "logit")
    else:
        calibrated = of_table(calibrator, Given(table, calibrator.input == "logit"))
    return calibrated + 0.0 * table.sum()


@singledispatch
def of_event(calibrator: Any, x: Node, is_logit: bool) -> Node:
    """The calibrated probability of one event, of its probability or its logit; of a map of one score x may have any width."""
    both = join([constant(0.0) * x, x]) if is_logit else join([1.0 - x, x])
    return of_table(calibrator, Given(both, is_logit)).column(1)


@of_event.register
def _(calibrator: base.BinaryCalibrator, x: Node, is_logit: bool) -> Node:
    return mapped(calibrator, logistic(x) if is_logit else x)


@of_event.register
def _(calibrator: base.LogOddsCalibrator, x: Node, is_logit: bool) -> Node:
    log_odds = x if is_logit else difference_of_logs(x, 1.0 - x)
    return logistic(clip(mapped(calibrator, log_odds), -base.MOST_LOG_ODDS, base.MOST_LOG_ODDS))


@of_event.register
def _(calibrator: binning.ScalingBinning, x: Node, is_logit: bool) -> Node:
    return mean_near(calibrator, of_event(calibrator.calibrator_, x, is_logit))


def mean_near(calibrator: binning.ScalingBinning, fitted: Node) -> Node:
    """The mean of the bin in which a score lies that the inner map has made."""
    return picked(fitted, calibrator.edges_[1:-1], calibrator.value_, right=False)


@singledispatch
def of_table(calibrator: Any, given: Given) -> Node:
    """The calibrated probabilities of all classes."""
    return mapped(calibrator, given)


@of_table.register
def _(calibrator: base.BinaryCalibrator, given: Given) -> Node:
    x = given.log_odds if given.is_logit else given.prob.column(1)
    score = of_event(calibrator, x, given.is_logit)
    return join([1.0 - score, score])


@of_table.register
def _(calibrator: base.LogOddsCalibrator, given: Given) -> Node:
    return ends(mapped(calibrator, given.log_odds))


@of_table.register
def _(calibrator: binning.ScalingBinning, given: Given) -> Node:
    score = mean_near(calibrator, of_table(calibrator.calibrator_, given).column(1))
    return join([1.0 - score, score])


@singledispatch
def mapped(calibrator: Any, x: Any) -> Node:
    """The map of one kind of calibrator."""
    must = "a calibrator must be one of this library to be exported"
    has_one = getattr(calibrator, "calibrator_", None) is not None  # as a `CalibratorSelector` has
    hint = "Export its calibrator_" if has_one else "Register its graph: calibrant.calibrators.graphs.mapped.register"
    refuse(must, got=type(calibrator).__name__, hint=hint, error=TypeError)


# Maps of one score


def rounding_of(score: FloatArray) -> FloatArray:
    """What other languages may make of a score that is not exact: its last digits, or beside 1 those of what is missing."""
    return np.where(score > 0.5, 3e-16 + 1e-14 * np.abs(1.0 - score), 1e-14 * score)


SLACK_OF_LOG_ODDS = 1e-12
"""The same for log-odds, of themselves and of 1: they tell far more scores apart beside 1."""


def picked(x: Node, edges: FloatArray, table: FloatArray, *, right: bool = True) -> Node:
    """The entry for the interval between edges that a score lies in, as ``calibrate`` finds it.

    An edge is the score of a row that was fitted, which belongs to one side of it: edges for scores that are not exact are
    moved, so that rounding takes none across. Where the score is made of log-odds, it is these that are compared: their last
    digits tell apart what beside 1 is one score, or differs by what another language rounds away.
    """
    if x.log_odds is None:
        slack = rounding_of(edges)
    else:
        edges, x = crossing(edges, right=right), x.log_odds
        slack = SLACK_OF_LOG_ODDS * (1.0 + np.abs(edges))
    if not x.is_exact:
        edges = edges - slack if right else edges + slack
    return x.pick(edges, table, right=right)


def crossing(edges: FloatArray, *, right: bool) -> FloatArray:
    """The least log-odds whose score is an edge or more, or the highest whose score is an edge or less; found by halving."""
    low, high = np.full(np.shape(edges), -MOST_FINITE), np.full(np.shape(edges), MOST_FINITE)
    while True:
        middle = (low + high) / 2.0
        if ((middle == low) | (middle == high)).all():
            break
        score = score_of_logit(middle)
        is_above = score >= edges if right else score > edges
        low, high = np.where(is_above, low, middle), np.where(is_above, middle, high)
    found = high if right else low
    return np.where(np.abs(found) < MOST_FINITE - 1.0, found, np.copysign(-LEAST, found))


MOST_FINITE = 800.0
"""Beyond these log-odds, and one before them, scores are 0 and 1."""


def steps(left: FloatArray, value: FloatArray, x: Node) -> Node:
    """The value of the last step that begins at or below x."""
    return picked(x, left[1:], value)


def lines(knot: FloatArray, value: FloatArray, x: Node) -> Node:
    """Straight lines between points, constant beyond."""
    if knot.size == 1:
        return constant(value) + 0.0 * x
    inner = knot[1:-1]
    tables = knot[:-1], knot[1:], value[:-1], value[1:]
    left, right, low, high = (x.pick(inner, table) for table in tables)  # lines have no steps
    part = (of("minimum", of("maximum", x, left), right) - left) / (right - left)
    return where(part >= 1.0, high, low + part * (high - low))


@mapped.register
def _(calibrator: isotonic.IsotonicCalibration, x: Node) -> Node:
    if calibrator.interpolate:
        return lines(*isotonic.knots(calibrator.left_, calibrator.right_, calibrator.value_), x)
    return steps(calibrator.left_, calibrator.value_, x)


@mapped.register(IsotonicRecursivePartitioning)
@mapped.register(isotonic.EnsembleNearIsotonic)
@mapped.register(isotonic.NearIsotonicCalibration)
def _(calibrator: Any, x: Node) -> Node:
    return steps(calibrator.left_, calibrator.value_, x)


@mapped.register
def _(calibrator: isotonic.CenteredIsotonicCalibration, x: Node) -> Node:
    return lines(calibrator.knot_, calibrator.value_, x)


@mapped.register
def _(calibrator: isotonic.VennAbers, x: Node) -> Node:
    p0 = picked(x, calibrator.lower_score_, calibrator.lower_)
    p1 = picked(x, calibrator.upper_score_, calibrator.upper_, right=False)
    return clip(p1 / (1.0 - p0 + p1), EPSILON, 1.0 - EPSILON)


@mapped.register(binning.HistogramBinning)
@mapped.register(binning.BayesianBinning)
def _(calibrator: Any, x: Node) -> Node:
    edges, value = calibrator.edges_[1:-1], calibrator.value_
    empty = np.isnan(value)
    if not empty.any():
        return picked(x, edges, value, right=False)
    found = picked(x, edges, np.where(empty, 0.0, value), right=False)
    return where(picked(x, edges, empty.astype(np.float64), right=False) > 0.5, x, found)


@mapped.register(parametric.PlattScaling)
@mapped.register(parametric.QuadraticScaling)
def _(calibrator: Any, x: Node) -> Node:
    found: Node = calibrator._map_log_odds(x)  # sums and products alone: of nodes as of arrays
    return found


@mapped.register
def _(calibrator: parametric.BetaCalibration, x: Node) -> Node:
    both = of("log", 1.0 + of("exp", -of("absolute", x)))
    low, high = of("minimum", x, 0.0) - both, of("maximum", x, 0.0) + both
    return calibrator.a_ * low + calibrator.b_ * high + calibrator.c_


@mapped.register
def _(calibrator: parametric.SplineCalibration, x: Node) -> Node:
    knot = calibrator.knots_
    half, pieces, slopes = pieces_of_natural_spline(knot, calibrator.deviation_)
    within = (clip(x, float(knot[0]), float(knot[-1])) - float(knot[0])) / half
    place = (knot - knot[0]) / half
    inner = place[1:-1]
    beyond = within - within.pick(inner, place[:-1])
    curve = polynomial([within.pick(inner, each) for each in pieces], beyond)
    outside = where(x > float(knot[-1]), (x - float(knot[-1])) / half * slopes[1], 0.0)
    return x + curve + where(x > float(knot[0]), outside, (x - float(knot[0])) / half * slopes[0])


@mapped.register
def _(calibrator: parametric.CDFSplineCalibration, x: Node) -> Node:
    return clip(x + lines(calibrator.score_, calibrator.deviation_, x), 0.0, 1.0)


# Maps of the simplex


@mapped.register
def _(calibrator: parametric.TemperatureScaling, given: Given) -> Node:
    return softmax((given.values if given.is_logit else given.log_prob) / calibrator.temperature_)


@mapped.register
def _(calibrator: parametric.EnsembleTemperatureScaling, given: Given) -> Node:
    scaled = softmax(given.log_prob / calibrator.temperature_)
    prob = softmax(given.values) if given.is_logit else given.prob
    w = calibrator.weights_
    return proportions(float(w[0]) * scaled + float(w[1]) * prob + float(w[2]) / given.width)


@mapped.register
def _(calibrator: parametric.IsotonicTemperatureScaling, given: Given) -> Node:
    log_prob = log_softmax(given.log_prob / calibrator.temperature_)
    rounded = rounding(log_prob * 10.0**parametric.TIED) / 10.0**parametric.TIED
    scaled = of("exp", of("maximum", rounded, LEAST_SCORE))
    stepped = join(list(map(steps, calibrator.left_, calibrator.value_, scaled.columns())))
    return divided(stepped + calibrator.epsilon * scaled, scaled)


def proportions(x: Node) -> Node:
    """Rows divided by their sums."""
    return x / x.sum()


def divided(raised: Node, prob: Node) -> Node:
    """Rows divided by their sums; a row of zeros keeps its forecast."""
    return proportions(where(raised.sum() > 0.0, raised, prob))


def rounding(x: Node) -> Node:
    """The nearest whole number."""
    return of("floor", x + 0.5)


@mapped.register
def _(calibrator: LinearScaling, given: Given) -> Node:
    z = entering(calibrator, given)
    scores = z * calibrator.coef_ if calibrator.coef_.ndim == 1 else z.matmul(calibrator.coef_.T)
    return softmax(scores + calibrator.intercept_)


@singledispatch
def entering(calibrator: Any, given: Given) -> Node:
    """What enters a map that is linear."""
    return given.log_prob


@entering.register
def _(calibrator: LogitScaling, given: Given) -> Node:
    z = given.log_prob if calibrator.logits == "log-softmax" or not given.is_logit else given.values
    return z - z.column(z.width - 1) if calibrator.logits == "reference" else z


@entering.register
def _(calibrator: StructuredScaling, given: Given) -> Node:
    share = calibrator.uniform_
    prob = softmax(given.log_prob / calibrator.temperature_, least=None)
    return of("log", (1.0 - share) * prob + share / given.width)


@mapped.register
def _(calibrator: NormalizedFlattenedIsotonic, given: Given) -> Node:
    return softmax(picked(given.prob, calibrator.left_[1:], calibrator.log_value_) + TIE * given.prob)


@mapped.register
def _(calibrator: isotonic.MulticlassIsotonic, given: Given) -> Node:
    prob = given.prob
    return divided(picked(prob, calibrator.left_[1:], calibrator.value_) + calibrator.epsilon * prob, prob)


@mapped.register
def _(calibrator: SafeCalibrator, given: Given) -> Node:
    weight, share, pooled = calibrator.weight_, calibrator.share_, proportions(given.prob)
    if weight == share == 0.0:
        return pooled
    candidate = of_table(calibrator.calibrator_, given)
    if weight > 0.0:
        pooled = softmax((1.0 - weight) * given.log_prob + weight * clipped_log(candidate))
    return (1.0 - share) * pooled + share * candidate if share > 0.0 else pooled


HALF_UNIT = 0.5 / UNITS
"""Sums of probabilities are whole numbers of units: what lies between two of them tells them apart in any language."""


@mapped.register
def _(calibrator: SortedCumulativeIsotonic, given: Given) -> Node:
    starts, left, value = calibrator._steps()
    prob, n_classes, share = given.prob, given.width, calibrator.ties == "share"

    def reached(at: tuple[Node, Node]) -> Node:
        """What the map gives the classes up to each: by their number, and the sum of their probabilities."""
        number, mass = at
        found = where(number >= float(n_classes), 1.0, 0.0)
        for rank in range(n_classes - 1, 0, -1):
            own = slice(starts[rank - 1], starts[rank])
            found = where(number.equals(float(rank)), mass.pick(left[own][1:] - HALF_UNIT, value[own]), found)
        return found

    index = np.arange(n_classes)
    with_it, before = [], []
    for k, other in enumerate(prob.columns()):
        higher, level = other > prob, other.equals(prob)
        till_it = np.ones(n_classes) if share else 1.0 * (index >= k)
        till_before = np.zeros(n_classes) if share else 1.0 * (index > k)
        with_it.append(where(higher, 1.0, where(level, constant(till_it), 0.0)))
        before.append(where(higher, 1.0, where(level, constant(till_before), 0.0)))

    def end(each: list[Node]) -> tuple[Node, Node]:
        """Return the number of classes, and their mass on the grid of sums."""
        mass = total([one * other for one, other in zip(each, prob.columns(), strict=True)])
        return total(each), rounding(mass * UNITS) / UNITS

    ends = [end(with_it), end(before)]
    here, below = (reached(end) for end in ends)
    if calibrator.rise == "last":
        return proportions((here - below) / (ends[0][0] - ends[1][0]) + calibrator.epsilon_)
    # All classes since the last increase share the next: they have the same value below them.
    highest, together, mass = constant(np.ones(n_classes)), constant(0.0), constant(0.0)
    for k in range(n_classes):
        same, value_of_k = below.column(k).equals(below), here.column(k)
        highest = where(value_of_k > below, of("minimum", highest, value_of_k), highest)
        mass, together = mass + where(same, prob.column(k), 0.0), together + where(same, 1.0, 0.0)
    part = where(mass > 0.0, prob / where(mass > 0.0, mass, 1.0), 1.0 / together)
    return proportions((highest - below) * part + calibrator.epsilon_)


def total(nodes: list[Node]) -> Node:
    """The sum of nodes."""
    first, *rest = nodes
    return sum(rest, start=first)


@mapped.register
def _(calibrator: MulticlassRecursivePartitioning, given: Given) -> Node:
    return of_tree(calibrator.tree_, given.prob, calibrator.node_value_)


@mapped.register
def _(calibrator: binning.CanonicalBinning, given: Given) -> Node:
    n_classes = given.width
    return of_cells(calibrator.partition_, given.prob, calibrator.value_, np.full((1, n_classes), 1.0 / n_classes))


def of_tree(tree: cells.SplitTree, prob: Node, value: FloatArray) -> Node:
    """The value of the leaf that a forecast falls into: at each split the side whose probability is most above the point."""
    found: list[Node] = [constant(row) for row in value]
    for node in reversed(range(len(value))):
        split = tree.split[node]
        if split < 0:
            continue
        over = prob - tree.gamma[split]
        best, chosen = None, None
        for k, child in enumerate(tree.child[split].tolist()):
            if child < 0:
                continue
            own = over.column(k)
            if best is None or chosen is None:
                best, chosen = own, found[child]
            else:
                is_more = own > best + cells.MARGIN
                best, chosen = where(is_more, own, best), where(is_more, found[child], chosen)
        if chosen is not None:
            found[node] = chosen
    return found[0]


@singledispatch
def of_cells(partition: Any, prob: Node, value: FloatArray, unknown: FloatArray) -> Node:
    """The value of the cell of a partition of the simplex."""
    must = "partition must be one of this library to be exported"
    refuse(must, got=type(partition).__name__, hint=OF_OURS, error=TypeError)


@of_cells.register
def _(partition: cells.SplitTree, prob: Node, value: FloatArray, unknown: FloatArray) -> Node:
    of_node = np.zeros((len(partition.split), value.shape[1]))
    of_node[partition.leaves()] = value
    return of_tree(partition, prob, of_node)


@of_cells.register
def _(partition: cells.ProjectionCells, prob: Node, value: FloatArray, unknown: FloatArray) -> Node:
    found: Node = constant(value[-1])
    for direction, threshold, row in list(zip(partition.direction, partition.threshold, value, strict=False))[::-1]:
        some = np.flatnonzero(direction)
        along = total([direction[j] * prob.column(j) for j in some.tolist()])
        on_grid = rounding(along * UNITS) / UNITS if some.size > 1 else along
        slack = HALF_UNIT if some.size > 1 else 0.0 if along.is_exact else rounding_of(np.abs(threshold))
        found = where(on_grid > float(threshold + slack), found, constant(row))
    return found


@of_cells.register
def _(partition: cells.SierpinskiCells, prob: Node, value: FloatArray, unknown: FloatArray) -> Node:
    cell, lower, goes_on = constant(0.0), constant(np.zeros(prob.width)), constant(1.0)
    number = constant(np.arange(prob.width))
    for depth in range(1, partition.depth + 1):
        half = 0.5**depth
        above = where(prob > lower + half, 1.0, 0.0)
        corner = where(above.max() > 0.5, above.argmax(), 3.0)
        cell = cell + goes_on * corner * float(cells.n_cells_of(partition.depth - depth))
        goes_on = where(corner > 2.5, 0.0, goes_on)
        lower = lower + goes_on * where(number.equals(corner), half, 0.0)
    return at_number(cell, value)


def at_number(number: Node, value: FloatArray) -> Node:
    """The row of a table with a number."""
    edges = np.arange(len(value) - 1) + 0.5
    return join([number.pick(edges, column) for column in value.T])


@of_cells.register
def _(partition: cells.GridCells, prob: Node, value: FloatArray, unknown: FloatArray) -> Node:
    edges = np.arange(1, partition.n_bins) / partition.n_bins
    edges = np.maximum(edges, edges.astype(np.float32))  # a little higher where single precision rounds up to there
    bin_of_each = picked(prob, edges, np.arange(partition.n_bins, dtype=np.float64), right=False)
    at, is_known = constant(0.0), constant(1.0)
    for number, known in enumerate(partition.known):
        code = at
        for column in bin_of_each.columns()[number * partition.width : (number + 1) * partition.width]:
            code = code * float(partition.n_bins) + column
        codes: FloatArray = known.astype(np.float64)
        middle: FloatArray = (codes[1:] + codes[:-1]) / 2.0
        at = code.pick(middle, np.arange(codes.size, dtype=np.float64))
        is_known = where(code.pick(middle, codes).equals(code), is_known, 0.0)
    return where(is_known > 0.5, at_number(at, value), constant(unknown[0]))


@of_cells.register
def _(partition: cells.UniqueCells, prob: Node, value: FloatArray, unknown: FloatArray) -> Node:
    if not prob.is_exact:
        must = "cells of single forecasts must be of probabilities to be exported"
        refuse(must, got="logits", hint="Fit on probabilities", error=TypeError)
    found: Node = constant(unknown[0])
    for known, row in zip(partition.prob, value, strict=True):
        differs = where(prob.equals(constant(known)), 0.0, 1.0).max()
        found = where(differs > 0.5, found, constant(row))
    return found


# By notion


@mapped.register
def _(calibrator: ByNotion, given: Given) -> Node:
    prob, n_classes = given.prob, given.width
    x = given.log_odds_of_each if given.is_logit else prob
    new, spoken = prob.columns(), [constant(0.0)] * n_classes
    parts = cells_of(calibrator.notion_, prob)
    for fitted, (columns, condition) in zip(calibrator.calibrators_, parts, strict=True):
        own = fitted or calibrator.pooled_
        for j in columns:
            mapped_score = prob.column(j) if own is None else of_event(own, x.column(j), given.is_logit)
            here = None if condition is None else condition.column(j)
            new[j] = mapped_score if here is None else where(here > 0.5, mapped_score, new[j])
            spoken[j] = constant(1.0) if here is None else spoken[j] + here
    merged = join(new)
    if all(one.op == "constant" and one.values[0] == 1.0 for one in spoken):
        return by_sums(merged) if calibrator.normalize else merged
    return rescaled(prob, merged, join(spoken), calibrator.normalize)


def by_sums(rows: Node) -> Node:
    """Rows divided by their sums; a row of zeros becomes uniform."""
    sums = rows.sum()
    return where(sums > 0.0, rows, 1.0) / where(sums > 0.0, sums, float(rows.width))


def rescaled(prob: Node, merged: Node, spoken: Node, normalize: bool) -> Node:
    """The classes that no part spoke of share what is left of one in their old proportions."""
    is_rest = 1.0 - spoken
    kept = is_rest * prob
    old, missing = kept.sum(), 1.0 - prob.sum()
    new = old + (spoken * (prob - merged)).sum() + where(of("absolute", missing) > notions.EXACT_SUM, missing, 0.0)
    even = 1.0 / of("maximum", is_rest.sum(), 1.0)
    proportion = where(old > 0.0, kept / where(old > 0.0, old, 1.0), even)
    left = where(new.equals(old), prob, proportion * clip(new, 0.0, 1.0))
    found = where(is_rest > 0.5, left, merged)
    if not normalize:
        return found
    is_over = where(new >= 0.0, 0.0, where(found.sum() > 1.0, 1.0, 0.0))
    is_full = of("maximum", where(is_rest.sum() > 0.5, 0.0, 1.0), is_over)
    return where(is_full > 0.5, by_sums(found), found)


Cells = list[tuple[list[int], Node | None]]
"""Of each part the columns that it speaks of, and, where not of all rows, a node of 0 and 1 that says of which."""


def cells_of(notion: notions.Notion, prob: Node) -> Cells:
    """Return which cells of a table the parts of a notion are."""
    n_classes = prob.width
    every, number = list(range(n_classes)), constant(np.arange(n_classes))
    match notion:
        case notions.Binary():
            return [([1], None)]
        case notions.ClassWise():
            return [([j], None) for j in every]
        case notions.Flattened():
            return [(every, None)]
        case notions.OneVsRest():
            return [([int(notion.column) % n_classes], None)]
        case notions.SharedClassWise():
            return [(columns.tolist(), None) for columns in notion._columns(n_classes)]
        case notions.ThresholdedClassWise():
            least = 1.0 / n_classes if notion.threshold is None else notion.threshold
            return [([j], where(prob >= least, 1.0, 0.0)) for j in every]
        case notions.Confidence():
            return [(every, where(prob.argmax().equals(number), 1.0, 0.0))]
        case notions.TopLabel():
            top = where(prob.argmax().equals(number), 1.0, 0.0)
            return [([j], top) for j in every]
        case notions.TopKConfidence():
            return [(every, at) for at in ranked(prob, notion.parts_a_row(n_classes))]
    if not isinstance(notion, notions.TopK):
        refuse("notion must be one of this library to be exported", got=repr(notion), hint=OF_OURS, error=TypeError)
    return [([j], at) for at in ranked(prob, notion.parts_a_row(n_classes)) for j in every]


def ranked(prob: Node, k: int) -> list[Node]:
    """Return, for each of the highest ranks, a row with 1 at the class that has it; of equal ones the first ranks higher."""
    left, found, number = prob, [], constant(np.arange(prob.width))
    for _ in range(k):
        is_top = left.argmax().equals(number)
        found.append(where(is_top, 1.0, 0.0))
        left = where(is_top, -1.0, left)
    return found


# Evidence scaling


@mapped.register
def _(calibrator: EvidenceScaling, given: Given) -> Node:
    prob = softmax(given.values) if given.is_logit else given.prob
    floor, width = calibrator.floor_, given.width
    floored = (
        of("log", given.prob + floor / width)
        if floor > 0.0
        else of("maximum", given.log_prob, evidence_features.LEAST_LOG)
    )
    standard = of("exp", log_softmax(calibrator.exponent_ * floored))
    z = of("log", standard * (1.0 - calibrator.uniform_) + calibrator.uniform_ / width)
    features = calibrator._features()
    if isinstance(features, evidence_features.LogOddsFeatures):
        return of_two(calibrator, z, prob, features)
    row = features_of_row(z, features, calibrator.coef_.shape[2])
    free = mixed_maps(z, prob, features, calibrator.shared_, calibrator.coef_, calibrator.weights_, row)
    if not calibrator.ordered_.size:
        return free
    ordered = mixed_maps(z, prob, features, calibrator.ordered_, None, calibrator.ordered_weights_, None)
    top = prob.argmax().equals(constant(np.arange(width)))
    ahead = of("maximum", where(top, ordered, 0.0).sum() - ordered, 0.0)
    behind = of("maximum", free - where(top, free, 0.0).sum(), 0.0)
    share = where(behind > 0.0, ahead / where(behind > 0.0, ahead + behind, 1.0), 1.0)
    least = -(-share).max()
    of_free = where(least >= 1.0, least, least * WITHIN)
    return of_free * free + (1.0 - of_free) * ordered


def of_two(calibrator: EvidenceScaling, z: Node, prob: Node, features: evidence_features.LogOddsFeatures) -> Node:
    """The mixture of maps of the log-odds."""
    log_odds, both = z.column(1) - z.column(0), z.sum()
    score = normal_quantile(lines(features.ranked[0], features.ranked[1], log_odds))
    ranks = [evidence_features.RANK_SIZE * hinge for hinge in hinges(evidence_features.RANKS, score, sized=False)]
    temp = (log_odds - float(features.centre[0])) / float(features.unit[0])
    asym = (both - float(features.centre[1])) / float(features.unit[1])
    curve = hinges(features.curve, log_odds / float(features.unit[0]))
    row = join([temp, constant(1.0), asym, *curve, score, *ranks])
    limit = evidence_features.MOST_LOG_ODDS
    scores = clip(log_odds + row.matmul(calibrator.shared_.T), -limit, limit)
    shares = calibrator.weights_
    sides = join([logistic(sign * scores).matmul(shares[:-1, None]) for sign in (-1.0, 1.0)])
    return proportions(float(shares[-1]) * prob + sides)


def hinges(curve: evidence_features.Hinges, x: Node, *, sized: bool = True) -> list[Node]:
    """Each hinge of a number, times its size."""
    size = curve.size if sized else np.ones(len(curve.knots))
    opened = []
    for knot, unit in zip(curve.knots.tolist(), size.tolist(), strict=True):
        beyond = x - knot
        if abs(knot - curve.middle) <= evidence_features.APART:
            opened.append(unit * (0.5 * of("absolute", beyond)))
        else:
            opened.append(unit * of("maximum", -beyond if knot < curve.middle else beyond, 0.0))
    return opened


def features_of_row(z: Node, features: evidence_features.ClassFeatures, n_own: int) -> list[Node]:
    """Features that each class has a weight for: of all classes, or of itself."""
    if not n_own:
        return []
    k, (unit, prob_unit) = z.width, features.unit.tolist()
    centred = (z - features.centre[:k]) / unit
    prob = (of("exp", z) - features.centre[k : 2 * k]) / prob_unit
    return [centred, *[prob] * (n_own != 1 + 2 * k), evidence_features.OF_SQUARE * (centred * centred)]


def mixed_maps(
    z: Node,
    prob: Node,
    features: evidence_features.ClassFeatures,
    shared: FloatArray,
    own: FloatArray | None,
    shares: FloatArray,
    row: list[Node] | None,
) -> Node:
    """The mixture of maps of all classes with the forecast itself."""
    q = of("exp", z)
    numbers = [-(q * z).sum() - float(features.centre[-2]), z.max() - float(features.centre[-1])]
    of_all = [z, *hinges(features.curve, z), *(z * number for number in numbers)]
    found, width = float(shares[-1]) * prob, z.width
    for m, share in enumerate(shares[:-1].tolist()):
        scores = z + total([float(weight) * feature for weight, feature in zip(shared[m], of_all, strict=True)])
        if own is not None and row:
            scores = scores + own[m][:, 0]
            if own.shape[2] > width:
                for number, feature in enumerate(row):
                    scores = scores + feature.matmul(own[m][:, 1 + number * width : 1 + (number + 1) * width].T)
            else:
                scores = scores + total([feature * own[m][:, 1 + number] for number, feature in enumerate(row)])
        found = found + share * softmax(scores)
    return proportions(found)
