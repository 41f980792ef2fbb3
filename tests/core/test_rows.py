"""Percent, votes and rows that do not sum to one: what rows= makes of them, and that following a hint works."""

import re

import numpy as np
import pandas as pd
import polars as pl
import pytest

import calibrant as cb
from calibrant import cli
from calibrant._core.border import as_problem
from calibrant.curves import simplex_points
from calibrant.decisions import estimate_prior, shift_prior
from calibrant.interop.tables import write_table
from calibrant.metrics import epistemic_irreducible

Y = np.array([0, 1, 2, 0, 1, 2])
PERCENT = np.array(
    [
        [50.0, 30.0, 20.0],
        [10.0, 80.0, 10.0],
        [20.0, 20.0, 60.0],
        [0.0, 100.0, 0.0],
        [33.3, 33.3, 33.4],
        [1.5, 0.0, 98.5],
    ]
)
P = PERCENT / 100
EVENT = np.array([0, 1, 1, 0, 0, 1])
COLUMN = PERCENT[:, 1]


def as_read(y, values, **data):
    return as_problem(y, values, **data).prob if np.ndim(values) == 2 else as_problem(y, values, **data).score


# What rows= does


FORMS = {
    "float64": (PERCENT, P),
    "float32": (PERCENT.astype(np.float32), PERCENT.astype(np.float32).astype(float) / 100),
    "whole numbers": (PERCENT[:4].astype(int), P[:4]),
    "lists": (PERCENT.tolist(), P),
    "pandas": (pd.DataFrame(PERCENT, columns=["0", "1", "2"]), P),
    "polars": (pl.DataFrame(PERCENT, schema=["0", "1", "2"]), P),
    "two columns": (np.column_stack([100 - COLUMN, COLUMN]), np.column_stack([100 - COLUMN, COLUMN]) / 100),
    "one column": (COLUMN, COLUMN / 100),
    "one column of whole numbers": (COLUMN[:4].astype(int), COLUMN[:4] / 100),
    "one column of rare events": (np.array([0.3, 0.9, 0.0, 0.1]), np.array([0.3, 0.9, 0.0, 0.1]) / 100),
}


@pytest.mark.parametrize(("given", "by_hand"), FORMS.values(), ids=FORMS)
def test_percent_is_what_dividing_by_hand_gives(given, by_hand):
    truth = (Y if by_hand.ndim == 2 and by_hand.shape[1] == 3 else EVENT)[: len(by_hand)]
    np.testing.assert_array_equal(as_read(truth, given, rows="percent"), by_hand)


FUNCTIONS = {
    "assess": lambda p, **rows: (
        cb.assess(Y, p, metrics=["ece", "brier"], n_resamples=5, **rows).to_frame().to_numpy().tolist()
    ),
    "paired_test": lambda p, **rows: cb.paired_test(Y, p, p[:, ::-1], n_resamples=20, rng=0, **rows).pvalue,
    "decide": lambda p, **rows: cb.decide(p, 1 - np.eye(3), **rows).expected_cost.tolist(),
    "shift_prior": lambda p, **rows: shift_prior(p, old_prior=[1 / 3] * 3, new_prior=[0.5, 0.3, 0.2], **rows).tolist(),
    "estimate_prior": lambda p, **rows: estimate_prior(p, old_prior=[0.5, 0.3, 0.2], **rows).tolist(),
    "decision_curve": lambda p, **rows: (
        cb.decision_curve(EVENT, {"a": p[:, 1]}, n_resamples=0, **rows).to_frame().to_numpy().tolist()
    ),
    "epistemic_irreducible": lambda p, **rows: list(epistemic_irreducible(Y, p, P, **rows).terms),
    "simplex_points": lambda p, **rows: simplex_points(Y, p, P, **rows).calibrated.tolist(),
    "a predicted class": lambda p, **rows: cb.expected_calibration_error(
        Y, p.max(axis=1), y_pred=p.argmax(axis=1), **rows
    ),
}


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
def test_every_function_reads_percent_and_takes_what_stands_beside_as_probabilities(function):
    np.testing.assert_equal(function(PERCENT, rows="percent"), function(P))


def test_percent_out_of_single_precision_is_put_back():
    table = np.array([[100.00001, -0.00001], [25.0, 75.0]])
    np.testing.assert_array_equal(as_read([0, 1], table, rows="percent"), [[1, 0], [0.25, 0.75]])


def test_votes_and_rounded_percent_are_divided_by_their_sums():
    votes = np.array([[7, 3, 0], [0, 5, 5], [340, 330, 330]])
    by_hand = votes / votes.sum(axis=1, keepdims=True)
    np.testing.assert_array_equal(as_read(Y[:3], votes, rows="normalize"), by_hand)
    np.testing.assert_allclose(as_read([0, 1], [[1e308, 1e308], [1e307, 3e307]], rows="normalize")[1], [0.25, 0.75])


# What it refuses


PERCENTS, SUMS, HOLED = {"rows": "percent"}, {"rows": "normalize"}, np.where(PERCENT == 80, np.nan, PERCENT)
REFUSED = [
    (P, {"rows": "sum"}, "rows must be one of 'as-given', 'normalize', 'percent'; got 'sum'"),
    (P, {"rows": "percent", "input": "logit"}, "rows must not be 'percent' where input='logit'"),
    (PERCENT * 3, PERCENTS, "y_prob must hold percent in [0, 100]; got 150 at index"),
    (HOLED, PERCENTS, "y_prob must be finite; got nan at index (1, 1)"),
    (HOLED, SUMS, "y_prob must be finite; got nan at index (1, 1)"),
    (PERCENT - 40, SUMS, "divided by their sums; got -10 at index (0, 1), and 12 more. If these are logits, pass"),
    (PERCENT - np.eye(6, 3), PERCENTS, "100 percent within 0.1; got 99 in row 0, and 2 more. Pass rows='normalize'"),
]


@pytest.mark.parametrize(("values", "data", "words"), REFUSED, ids=[words[-30:] for *_, words in REFUSED])
def test_what_is_refused_says_what_must_hold(values, data, words):
    with pytest.raises(ValueError, match=re.escape(words)):
        as_problem(Y, values, **data)


def test_the_old_name_is_answered_with_the_new_one():
    with pytest.raises(TypeError, match=r"got 'normalize'\. Rows are divided by their sums with rows='normalize'\."):
        cb.brier_score_loss(Y, P, normalize=True)
    with pytest.raises(TypeError, match="rows must be one of"):
        cb.brier_score_loss(Y, P, rows=True)


# Hints: who sees them, what they say, and that following them works


def by(**data):
    """The arguments themselves, as keywords, with the same numbers."""
    return lambda values: (values, data)


def on(change):
    """The same call, of other numbers."""
    return lambda values: (change(values), {})


def divided(values):
    values = np.asarray(values, dtype=float)
    return values / values.sum(axis=1, keepdims=True)


def zeros_first(table):
    return np.vstack([np.zeros(table.shape[1]), table[1:]])


PASS_PERCENT = "If these are percent, pass rows='percent' to divide them by 100."
NORMALIZE = "Pass rows='normalize' to divide each row by its sum."
LOGITS = "If these are logits, pass input='logit'."
DROP = "Drop the rows of zeros: they give no class a probability."
SEVERAL = "If each column is an event or a forecast of its own, take one column at a time."
CLASSES = "If these are predicted classes, pass the classifier's probabilities in their place."
LOGARITHMS = "If these are logarithms of probabilities, pass np.exp(y_prob)."
MANY = np.random.default_rng(0).dirichlet(np.full(300, 50.0), 6) * 100
SLIGHT = np.array([[1.02, -0.02, 0.0], [0.5, 0.3, 0.2]] * 3)
ROUNDED = PERCENT.round(0)[[0, 1, 4, 4, 4, 4]]
LOGIT = np.array([[2.0, -1.0, 0.5]] * 6)
SIGMOIDS = np.array([[0.9, 0.8, 0.1], [0.1, 0.2, 0.1]] * 3)

CLIP, CLIP_TABLE = (
    f"If rounding or a regression put them there, pass np.clip(y_prob, 0, {most})." for most in ("1", "None")
)
VOTES, COUNTS = "If these are percent or counts, pass rows='normalize'", "If these are counts, pass rows='normalize'"
EACH = "to divide each row by its sum."
THREE, RARE = EVENT[:3], np.array([1.02, 0.5, 0.1])
AS_PERCENT, SUMMED, LOGISTIC = by(rows="percent"), by(rows="normalize"), by(input="logit")
WITHOUT_FIRST, CLIPPED = (lambda v: (v[1:], PERCENTS)), on(lambda v: np.clip(v, 0, 1))
CLIPPED_PERCENT = lambda v: (np.clip(v, 0, 100), PERCENTS)  # noqa: E731
CLIPPED_ROWS = lambda v: (np.clip(v, 0, None), SUMS)  # noqa: E731


def logistic(*z):
    return 1 / (1 + np.exp(-np.array(z)))


# The numbers, the labels, the hint, what to do to follow it, and what must then be read.
HINTS = [
    (PERCENT, Y, PASS_PERCENT, AS_PERCENT, P),
    (COLUMN, EVENT, PASS_PERCENT, AS_PERCENT, COLUMN / 100),
    (COLUMN[:4].astype(int), EVENT[:4], PASS_PERCENT, AS_PERCENT, COLUMN[:4] / 100),
    (MANY, [0, 1, 2, 3, 4, 299], PASS_PERCENT, AS_PERCENT, MANY / 100),
    (zeros_first(PERCENT), Y, f"{DROP} {PASS_PERCENT}", WITHOUT_FIRST, P[1:]),
    (ROUNDED, Y, f"If these are percent, pass rows='normalize' {EACH}", SUMMED, divided(ROUNDED)),
    (PERCENT[:4] / 10, Y[:4], f"{VOTES} {EACH}", SUMMED, P[:4]),
    (PERCENT * 5, Y, f"{COUNTS} {EACH} {LOGITS}", SUMMED, P),
    (SIGMOIDS * 100, Y, f"{VOTES} {EACH} {SEVERAL}", lambda v: (v[:, 0], PERCENTS), SIGMOIDS[:, 0]),
    (
        SIGMOIDS,
        Y,
        f"{SEVERAL} If these are shares of a sum, pass rows='normalize' {EACH}",
        on(lambda v: v[:, 0]),
        SIGMOIDS[:, 0],
    ),
    (P * 1.01, Y, NORMALIZE, SUMMED, P),
    (P / 2, Y, NORMALIZE, SUMMED, P),
    (zeros_first(P), Y, DROP, on(lambda v: v[1:]), P[1:]),
    (zeros_first(P / 2), Y, f"{DROP} {NORMALIZE}", lambda v: (v[1:], SUMS), P[1:]),
    (RARE, THREE, f"{CLIP} {PASS_PERCENT}", CLIPPED, [1.0, 0.5, 0.1]),
    (RARE, THREE, f"{CLIP} {PASS_PERCENT}", AS_PERCENT, RARE / 100),
    (np.array([-0.02, 0.5, 1.01]), THREE, f"{CLIP} {LOGITS}", CLIPPED, [0.0, 0.5, 1.0]),
    (SLIGHT, Y, f"{CLIP_TABLE} Then pass rows='normalize' {EACH}", CLIPPED_ROWS, divided(np.clip(SLIGHT, 0, None))),
    (
        SLIGHT * 100,
        Y,
        f"{CLIP_TABLE} Then pass rows='normalize' {EACH}",
        CLIPPED_ROWS,
        divided(np.clip(SLIGHT, 0, None)),
    ),
    (np.array([[1.0005, 0.0], [0.5, 0.5]]), [0, 1], NORMALIZE, SUMMED, [[1.0, 0.0], [0.5, 0.5]]),
    (np.array([0, 1, 3, 2, 1, 0]), Y, f"{CLASSES} {PASS_PERCENT}", on(lambda _: P), P),
    (LOGIT, Y, LOGITS, LOGISTIC, np.exp(LOGIT) / np.exp(LOGIT).sum(axis=1, keepdims=True)),
    (np.array([-2.0, 0.0, 3.0]), THREE, LOGITS, LOGISTIC, logistic(-2, 0, 3)),
    (np.array([120.0, 0.0, 3.0]), THREE, LOGITS, LOGISTIC, logistic(120, 0, 3)),
    (np.log([0.1, 0.5, 0.9]), THREE, f"{LOGITS} {LOGARITHMS}", on(np.exp), [0.1, 0.5, 0.9]),
    (np.log(P[:3]), Y[:3], LOGITS, LOGISTIC, P[:3]),
]
OF_PERCENT = [
    (ROUNDED, Y, NORMALIZE, SUMMED, divided(ROUNDED)),
    (P, Y, "If these are fractions of one and not percent, leave rows='percent' out.", by(), P),
    (
        np.array([102.0, -2, 50]),
        THREE,
        "Correct these values, or leave rows='percent' out.",
        CLIPPED_PERCENT,
        [1, 0, 0.5],
    ),
]


@pytest.mark.parametrize(
    ("rows", "values", "truth", "says", "followed", "expected"),
    [("as-given", *hint) for hint in HINTS] + [("percent", *hint) for hint in OF_PERCENT],
)
def test_a_hint_fits_the_numbers_and_following_it_works(rows, values, truth, says, followed, expected):
    labels = EVENT[: len(values)] if np.ndim(values) == 1 else truth
    with pytest.raises(ValueError, match="must") as refused:
        as_problem(labels, values, rows=rows)
    assert re.split(r"; got [^A-Z]*\. (?=[A-Z])", str(refused.value), maxsplit=1)[1] == says
    cured, data = followed(values)
    one_column = np.ndim(cured) == 1
    found = as_read((EVENT if one_column else np.asarray(truth))[-len(cured) :], cured, **data)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("beyond", [1e-7, 1e-6 * (1 - 1e-9)])
def test_what_single_precision_adds_is_no_reason_to_refuse(beyond):
    np.testing.assert_array_equal(as_read([0, 1], np.array([1 + beyond, -beyond])), [1.0, 0.0])


@pytest.mark.parametrize("high", [1.0001, 1.5, 2.0, 55.5, 100.0])
@pytest.mark.parametrize("table", [False, True])
def test_logits_are_never_suggested_for_what_percent_could_be(high, table):
    column = np.array([high, 0.0, high / 2])
    values = np.column_stack([column, column[::-1]]) if table else column
    with pytest.raises(ValueError, match=r"rows='(percent|normalize)'") as refused:
        as_problem(EVENT[:3], values)
    assert "logit" not in str(refused.value)


# Calibrators have no rows=


@pytest.mark.parametrize("make", [cb.TemperatureScaling, lambda: cb.ByNotion(cb.IsotonicCalibration())])
def test_a_calibrator_says_to_divide_percent_by_hand(make):
    with pytest.raises(ValueError, match=r"got 50 .*\. If these are percent, divide them by 100\.$"):
        make().fit(PERCENT, Y)
    with pytest.raises(ValueError, match=r"If these are logits, give the calibrator input='logit'\.$"):
        make().fit(LOGIT, Y)
    with pytest.raises(ValueError, match=r"got 0\.5 in row 0, and 5 more\. Divide each row by its sum\.$"):
        make().fit(P / 2, Y)
    fitted = make().fit(PERCENT / 100, Y)
    with pytest.raises(ValueError, match=r"If these are percent, divide them by 100\.$"):
        fitted.predict_proba(PERCENT)
    assert fitted.predict_proba(P / 2 * 2).shape == P.shape


# The command line


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def save(name, truth, table):
    columns = {f"p_{k}": column for k, column in enumerate(table.T)} if table.ndim == 2 else {"p": table}
    write_table(name, {"label": truth, **columns})
    return name


def run(capsys, *words):
    code = cli.main([str(word) for word in words])
    return code, *capsys.readouterr()


MANY_Y = np.tile(Y, 5)
MANY_PERCENT = np.tile(PERCENT, (5, 1))


@pytest.mark.usefixtures("folder")
def test_apply_reads_percent_and_writes_probabilities(capsys):
    save("fit.csv", MANY_Y, MANY_PERCENT / 100)
    save("percent.npz", MANY_Y, MANY_PERCENT)
    assert run(capsys, "fit", "fit.csv", "-o", "c.json")[0] == 0
    assert run(capsys, "apply", "c.json", "fit.csv", "-o", "a.npz")[0] == 0
    assert "--percent" in run(capsys, "apply", "c.json", "percent.npz", "-o", "b.npz")[2]
    assert run(capsys, "apply", "c.json", "percent.npz", "-o", "b.npz", "--percent")[0] == 0
    a, b = np.load("a.npz"), np.load("b.npz")
    for name in ("p_0", "p_1", "p_2"):
        np.testing.assert_array_equal(b[name], a[name])
        assert 0 <= b[name].min() <= b[name].max() <= 1


@pytest.mark.usefixtures("folder")
def test_percent_of_logits_is_refused_and_so_are_both_options(capsys):
    write_table("z.csv", {"label": EVENT, "z_0": COLUMN, "z_1": -COLUMN})
    code, _, err = run(capsys, "assess", "z.csv", "--percent")
    assert code == 2
    assert (
        "--percent must stand with probabilities; got logits. Name the columns with --prob, or leave --percent out."
        in err
    )
    with pytest.raises(SystemExit):
        cli.main(["assess", "z.csv", "--percent", "--normalize"])
    assert "not allowed with" in capsys.readouterr().err


def test_a_table_of_huge_numbers_is_refused_without_a_warning():
    with pytest.raises(ValueError, match="y_prob must hold probabilities"):
        as_problem([0, 1], [[1e308, 1e308], [0.5, 0.5]])
