"""Rows for calibration that look like training rows are warned of, and others are not: rates on both sides."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.special import softmax
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import cross_val_predict

from calibrant import advise, cli
from calibrant._core.border import as_problem
from calibrant.exceptions import CalibrationWarning
from calibrant.interop.tables import write_table
from calibrant.significance.differences import n_shared, warn_if_training_rows

LOOK, SHARED = "these look like training rows", "are also among the"


def made(rng, n, *, n_classes=3, sharp=2.0, decimals=None):
    """Labels and calibrated forecasts; the scores are of a discrete classifier where they are rounded."""
    prob = softmax(rng.normal(0, sharp, (n, n_classes)), axis=1)
    label = (rng.random((n, 1)) > prob.cumsum(axis=1)).sum(axis=1).clip(0, n_classes - 1)
    if decimals is not None:
        prob = np.round(prob, decimals)
        prob[:, -1] = 1 - prob[:, :-1].sum(axis=1)
    return label, prob.clip(0, 1)


def said(rows, other, **data):
    with warnings.catch_warnings(action="always", record=True) as caught:
        warn_if_training_rows(as_problem(*rows, **data), as_problem(*other, **data))
    return [str(warning.message) for warning in caught if issubclass(warning.category, CalibrationWarning)]


# False alarms


@pytest.mark.parametrize("decimals", [None, 2], ids=["exact", "2 decimals"])
@pytest.mark.parametrize(("n", "m"), [(100, 100), (40, 800)])
def test_two_samples_of_one_population_are_hardly_ever_warned_of(n, m, decimals):
    """At most 3 in 1000 by the levels: of 500 pairs 5 would be four standard errors too many. Ties are no shared rows."""
    rng = np.random.default_rng(4)
    alarms = sum(bool(said(made(rng, n, decimals=decimals), made(rng, m, decimals=decimals))) for _ in range(500))
    assert alarms <= 5


@pytest.mark.parametrize(("n", "sharp", "other"), [(40_000, 2.2, 2.0), (500, 1.0, 5.0)], ids=["small", "harder"])
def test_a_difference_that_is_small_or_the_other_way_is_not_warned_of_however_significant(n, sharp, other):
    rng = np.random.default_rng(0)
    assert said(made(rng, n, sharp=sharp), made(rng, n, sharp=other)) == []


# Training rows


def test_training_rows_of_a_forest_are_found_and_cross_validated_predictions_are_not():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(1200, 5))
    y = (x[:, 0] + rng.normal(size=1200) > 0).astype(int)
    forest = RandomForestClassifier(50, random_state=0)
    trained, tested = slice(600), slice(600, None)
    crossed = cross_val_predict(forest, x[trained], y[trained], method="predict_proba")
    forest.fit(x[trained], y[trained])
    other = y[tested], forest.predict_proba(x[tested])
    (message,) = said((y[trained], forest.predict_proba(x[trained])), other)
    assert LOOK in message
    assert "their log loss is 0." in message
    assert "their accuracy is 100.0%, that of the held-out rows 7" in message
    assert "cross_val_predict" in message
    assert said((y[trained], crossed), other) == []  # the cure that the message names


@pytest.mark.parametrize("n", [60, 1000])
def test_a_classifier_that_knows_its_rows_by_heart_is_found_nearly_always(n):
    """Twice as sharp on rows that it was trained on, and right in nearly all of them."""
    rng, runs, found = np.random.default_rng(1), 100, 0
    for _ in range(runs):
        label, prob = made(rng, n)
        learnt = 0.85 * np.eye(3)[label] + 0.15 * prob
        found += any(LOOK in message for message in said((label, learnt), made(rng, n)))
    assert found >= 95


def test_a_few_rows_that_were_never_expected_do_not_hide_or_make_a_finding():
    """One row of the other ones cost 36 nats: the mean is far above, and the ranks know better."""
    rng = np.random.default_rng(0)
    label, prob = made(rng, 50)
    prob[0] = np.eye(3)[(label[0] + 1) % 3]
    assert not any(LOOK in message for message in said(made(rng, 50), (label, prob)))


# Rows in both


@pytest.mark.parametrize("data", [{}, {"input": "logit"}])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_rows_in_both_sets_are_counted(data, n_classes):
    rng = np.random.default_rng(0)
    (label, prob), (other_label, other) = made(rng, 300, n_classes=n_classes), made(rng, 400, n_classes=n_classes)
    given, others = (np.log(prob), np.log(other)) if data else (prob, other)
    both = np.concatenate([other_label, label[:37]]), np.concatenate([others, given[:37]])
    (message,) = said((label, given), both, **data)
    of = "37 of 300 calibration rows are also among the 437 held-out rows"
    assert f"{of}, with the same label and the same prediction" in message
    assert said((label[37:], given[37:]), both, **data) == []  # the cure
    if n_classes == 2 and not data:
        assert of in said((label, prob[:, 1]), (both[0], both[1][:, 1]))[0]


@pytest.mark.parametrize(("n", "shared", "found"), [(300, 4, 0), (2000, 15, 0), (2000, 25, 25)])
def test_fewer_than_five_shared_rows_or_one_in_a_hundred_are_left_alone(n, shared, found):
    rng = np.random.default_rng(0)
    (label, prob), (other_label, other) = made(rng, n), made(rng, n + 100)
    both = as_problem(np.concatenate([other_label, label[:shared]]), np.concatenate([other, prob[:shared]]))
    assert n_shared(as_problem(label, prob), both) == found
    assert n_shared(as_problem(label, prob), as_problem((label + 1) % 3, prob)) == 0
    twice = as_problem(np.tile(label, 2), np.tile(prob, (2, 1)))
    assert n_shared(twice, as_problem(other_label, other)) == 0


# In Python and on the command line


@pytest.mark.usefixtures("bare_default")
def test_advise_takes_the_other_rows():
    rng = np.random.default_rng(0)
    rows, other = made(rng, 300), made(rng, 300)
    names = np.array(["a", "b", "c"])
    with pytest.warns(CalibrationWarning, match=SHARED) as caught:
        found = advise(names[rows[0]], rows[1], other_true=names[rows[0]], other_prob=pd.DataFrame(rows[1]))
    assert caught[0].filename == __file__
    assert found.n_rows == 300
    quiet = advise(*rows, other_true=other[0], other_prob=other[1])
    assert str(quiet) == str(advise(*rows))
    advise(rows[0], np.log(rows[1]), other_true=other[0], other_prob=np.log(other[1]), input="logit")
    with pytest.raises(ValueError, match=r"must be given together; other_prob is missing\. Pass both, or neither\."):
        advise(*rows, other_true=other[0])
    with pytest.raises(ValueError, match=r"rows of other_prob must sum to one"):
        advise(*rows, other_true=other[0], other_prob=other[1] * 0.9)


@pytest.mark.usefixtures("bare_default")
@pytest.mark.parametrize("command", ["fit {} -o c.json --force", "advise {}"])
def test_commands_take_the_file_of_the_other_rows(command, tmp_path, monkeypatch, capsys):
    def told(file, words, code=0):
        assert cli.main([*command.format(file).split(), *words.split()]) == code
        return capsys.readouterr().err

    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    (label, prob), (other_label, other) = made(rng, 300, n_classes=2), made(rng, 300, n_classes=2)
    write_table("rows.csv", {"label": label, "p_0": prob[:, 0], "p_1": prob[:, 1], "w": np.arange(300) % 3})
    write_table("turned.csv", {"label": label, "p_1": prob[:, 1], "p_0": prob[:, 0]})
    write_table("test.csv", {"label": other_label, "p_0": other[:, 0], "p_1": other[:, 1]})
    shared = "200 of 200 calibration rows are also among the 300 held-out rows"
    assert shared in told("rows.csv", "--other turned.csv --weight w --rows :200")
    assert "warning" not in told("rows.csv", "--other test.csv")
    same = "--other must name another file than the calibration set; got ./rows.csv for both."
    assert same in told("rows.csv", "--other ./rows.csv", code=2)
