"""`compare` of independent samples and of periods: the difference is Welch's, and the periods are those of the calendar."""

import datetime
import itertools
import os
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import paired as reference
from scipy import stats
from sklearn.metrics import roc_auc_score

from calibrant import compare
from calibrant.calibrators import PlattScaling


def samples(*sizes, rng=None, power=1.5):
    """Return labels and forecasts of samples called a, b, ..., each over-confident in the same way."""
    rng = np.random.default_rng(3) if rng is None else rng
    prob = {name: rng.beta(1, 1, n) for name, n in zip("abcdef", sizes, strict=False)}
    return {name: (rng.random(p.size) < p**power).astype(int) for name, p in prob.items()}, prob


def test_the_difference_of_a_mean_is_that_of_welch():
    y, p = samples(40, 150)
    found = compare(y, p, paired=False)
    first, second = (-np.log(np.where(y[name] == 1, p[name], 1 - p[name])) for name in "ab")
    expected = stats.ttest_ind(second, first, equal_var=False)
    b = found["b"]
    assert b.difference == pytest.approx(second.mean() - first.mean())
    assert b.pvalue == pytest.approx(expected.pvalue)
    assert (b.lower, b.upper) == pytest.approx(tuple(expected.confidence_interval()))
    assert (b.n_rows, b.least_pvalue, found.pairing, found.n_rows) == (150, None, "none", 190)
    assert np.isnan(b.win_rate)


def test_the_difference_of_a_squared_error_is_that_of_two_jackknives():
    y, p = samples(20, 30)

    def cut(rows):
        return [[r for r in rows if r[0] <= 0.5], [r for r in rows if r[0] > 0.5]]

    rows = {name: [list(zip(range(y[name].size), p[name], y[name], strict=True))] for name in "ab"}
    (first, of_first), (second, of_second) = (reference.z(rows[name], [], cut, y[name].size) for name in "ab")
    found = compare(y, p, paired=False, metric="debiased-ece", binning=2)["b"]
    error = np.sqrt(of_first + of_second)
    assert found.difference == pytest.approx(second - first)
    assert found.pvalue == pytest.approx(2 * stats.norm.sf(abs(second - first) / error))
    assert found.upper - found.lower == pytest.approx(2 * stats.norm.ppf(0.975) * error)


@pytest.mark.deep
def test_a_metric_that_is_neither_has_the_errors_of_two_bootstraps():
    y, p = samples(200, 300)
    found = compare(y, p, paired=False, metric="roc-auc", n_resamples=400)["b"]
    rng, drawn = np.random.default_rng(0), {name: [] for name in "ab"}
    for name, of_sample in drawn.items():
        for _ in range(400):
            rows = rng.integers(0, y[name].size, y[name].size)
            of_sample.append(roc_auc_score(y[name][rows], p[name][rows]))
    error = np.hypot(*(np.std(of_sample) for of_sample in drawn.values()))
    assert (found.upper - found.lower) / 2 / stats.norm.ppf(0.975) == pytest.approx(error, rel=0.15)


@settings(max_examples=20)
@given(st.integers(0, 2**32 - 1), st.sampled_from(["nll", "debiased-ece"]))
def test_counts_are_repeated_rows(seed, metric):
    rng = np.random.default_rng(seed)
    y, p = samples(30, 50, rng=rng)
    counts = {name: rng.integers(1, 4, labels.size) for name, labels in y.items()}
    weighted = compare(y, p, paired=False, metric=metric, sample_weight=counts)["b"]
    repeated = [{name: np.repeat(values[name], counts[name]) for name in values} for values in (y, p)]
    expected = compare(*repeated, paired=False, metric=metric)["b"]
    for part in ("value", "difference", "lower", "upper", "pvalue", "n_rows"):
        assert getattr(weighted, part) == pytest.approx(getattr(expected, part), rel=1e-8, abs=1e-12)


@pytest.mark.parametrize(("metric", "least"), [("nll", 0.02), ("accuracy", 0.02), ("debiased-ece", 0.002)])
def test_samples_that_are_alike_differ_in_a_twentieth_of_cases_and_on_either_side(metric, least):
    """Of 600 draws; the jackknife of a squared error is known to be large, so that its test is cautious."""
    rng, runs = np.random.default_rng(0), 600
    how = {"paired": False, "metric": metric, "n_resamples": 2, "level": 0.05}
    found = [compare(*samples(80, 300, rng=rng), **how)["b"] for _ in range(runs)]
    share = np.mean([one.pvalue < 0.05 for one in found])
    assert least <= share <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / runs)
    assert max(np.mean([one.lower > 0 for one in found]), np.mean([one.upper < 0 for one in found])) < 0.05
    assert [one.pvalue < 0.05 for one in found] == [not one.lower <= 0 <= one.upper for one in found]


def test_the_better_sample_is_taken_and_what_is_like_it_is_named():
    y, p = samples(500, 500, 500, rng=np.random.default_rng(0), power=1.0)
    p["a"] = np.clip(p["a"] ** 4, 0.001, 0.999)
    found = compare(y, p, paired=False)
    assert found.recommended in "bc"
    assert found.reason.startswith(f"Take {found.recommended}: its nll of ")
    assert found.reason.endswith(f"Between it and {'bc'.strip(found.recommended)} no difference can be shown.")
    assert str(found).splitlines()[0].split()[:3] == ["candidate", "rows", "nll"]


def test_a_sample_that_has_no_figure_is_a_row_with_the_reason():
    y, p = samples(30, 40, 50)
    y["b"] = np.where(np.arange(40) < 40, 1, 0)
    found = compare(y, p, paired=False, metric="roc-auc", labels=[0, 1], n_resamples=50)
    assert "must be a number on most samples" in found["b"].failure
    assert not found["c"].failure


@pytest.mark.parametrize("n_rows", [1, 20])
def test_a_sample_whose_rows_do_not_vary_is_a_row_with_the_reason(n_rows):
    y, p = {"a": np.ones(50, int)}, {"a": np.full(50, 0.6)}
    y["b"], p["b"] = np.ones(n_rows, int), np.full(n_rows, 0.7)
    y["c"], p["c"] = y["a"], np.full(50, 0.2 * 3)
    found = compare(y, p, paired=False)
    assert ("two rows or more" if n_rows == 1 else "must differ in what they add") in found["b"].failure
    assert (found["c"].pvalue, found.recommended) == (1.0, "a")
    del y["c"], p["c"]
    assert compare(y, p, paired=False).reason == "Keep a: every other candidate failed."


OF_THREE = {"y_true": {"a": list("abc"), "b": list("abd")}, "forecasts": dict.fromkeys("ab", np.full((3, 3), 1 / 3))}
OF_ONE_ROW = {"labels": [0, 1], "y_true": {"a": [1], "b": [0, 1]}, "forecasts": {"a": [0.3], "b": [0.3, 0.2]}}
OF_PAIRS = {"overlapping": True, "paired": True, "y_true": [0, 1], "forecasts": [0.3, 0.6]}


@pytest.mark.parametrize(
    ("error", "how", "words"),
    [
        *(
            (ValueError, {"metric": name}, f"metric of independent samples must not grow with noise; got '{name}'")
            for name in ("ece", "mcb", "dsc", "canonical-ece", "hull-auc", "vus")
        ),
        (ValueError, {"calibrators": ["platt"]}, "only compared as they are; got calibrators or groups"),
        (ValueError, {"by": np.zeros(60, int)}, "only compared as they are; got calibrators or groups"),
        (ValueError, {"sample_weight": np.ones(30)}, "must be dicts of samples by the same names"),
        (TypeError, {"paired": "no"}, "paired must be True or False; got 'no'"),
        (TypeError, {"memory": 1}, "memory must be a folder or None; got 1"),
        (ValueError, OF_ONE_ROW, "the first sample"),
        (ValueError, OF_THREE, "forecasts must have the same classes; got"),
        (ValueError, OF_PAIRS, "left out without by"),
        (ValueError, {"times": [1, 2], "paired": True}, "forecasts must be one where there are times; got a dict"),
        (TypeError, {"n_jobs": 1.5}, "n_jobs must be a whole number other than 0, or None; got 1.5"),
        (ValueError, {"n_jobs": 0}, "n_jobs must be a whole number other than 0, or None; got 0"),
    ],
)
def test_what_samples_cannot_have_is_refused(error, how, words):
    y, p = samples(30, 30)
    with pytest.raises(error, match=words):
        compare(**{"y_true": y, "forecasts": p, "paired": False} | how)


# Periods


DAYS = np.datetime64("2023-11-20") + np.arange(120)


def dated(n=600, seed=3):
    rng = np.random.default_rng(seed)
    prob = rng.random(n)
    when = DAYS[np.sort(rng.integers(0, DAYS.size, n))]
    return (rng.random(n) < prob ** np.where(when >= np.datetime64("2024-01-15"), 3, 1)).astype(int), prob, when


@pytest.mark.parametrize(
    ("every", "name"),
    [
        ("day", lambda day: day.strftime("%Y-%m-%d")),
        ("week", lambda day: day.strftime("%G-W%V")),
        ("month", lambda day: day.strftime("%Y-%m")),
        ("quarter", lambda day: f"{day.year}-Q{[1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4][day.month - 1]}"),
        ("year", lambda day: day.strftime("%Y")),
    ],
)
def test_periods_are_those_of_the_calendar_in_the_order_of_time(every, name):
    y, p, when = dated()
    found = compare(y, p, times=when, every=every, metric="brier")
    names = np.array([name(day) for day in when.astype(object)])
    assert [one.name for one in found.candidates] == list(dict.fromkeys(names))
    first = names == names[0]
    for one in found.candidates[1:]:
        own = names == one.name
        pair = {"a": y[first], "b": y[own]}, {"a": p[first], "b": p[own]}
        if own.sum() > 1:
            assert one.pvalue == compare(*pair, paired=False, metric="brier", labels=[0, 1])["b"].pvalue
    assert (found.first, found.recommended, found.pairing) == (names[0], names[0], "periods")


@pytest.mark.parametrize(
    "written",
    [
        lambda when: pd.Series(when),
        lambda when: pd.Series(when).dt.tz_localize("Europe/Berlin"),
        lambda when: when.astype(str),
        lambda when: [f"{day}T23:30:00Z" for day in when],
        lambda when: [datetime.datetime.combine(day, datetime.time(12)) for day in when.astype(object)],
        lambda when: when.astype(object),
        lambda when: [
            datetime.datetime.fromisoformat(f"{day}T00:30+02:00" if i % 2 else f"{day}T22:30+00:00")  # of one time
            for i, day in enumerate(when)
        ],
    ],
)
def test_dates_may_be_written_in_several_ways(written):
    y, p, when = dated()
    found, expected = (compare(y, p, times=times, every="month") for times in (written(when), when))
    assert found.candidates[1:] == expected.candidates[1:]


def test_labels_are_periods_in_sorted_order_and_dates_are_days():
    y, p, when = dated()
    release = np.where(when < np.datetime64("2024-02-01"), "v1", "v2")[::-1]
    assert [one.name for one in compare(y, p, times=release).candidates] == ["v1", "v2"]
    for pair in (["v9", "v10"], ["0.25", "0.5"], ["2024-01-01T08:00:00.25", "2024-01-01T08:00:00.5"], ["Q9", "Q10"]):
        names = np.where(release == "v1", *pair)
        assert [one.name for one in compare(y, p, times=names).candidates] == pair
    assert len(compare(y, p, times=np.arange(y.size) % 500).candidates) == 500
    for numbers in ((whole := np.arange(y.size) % 11), whole.astype(object)):
        assert [one.name for one in compare(y, p, times=numbers).candidates] == [str(number) for number in range(11)]
    assert [one.name for one in compare(y, p, times=when).candidates] == [str(day) for day in np.unique(when)]


def test_the_reason_says_since_when():
    y, p, when = dated(3000, seed=0)
    found = compare(y, p, times=when, every="month", metric="debiased-ece")
    first = found.candidates[0].value
    assert found.reason == f"The debiased-ece was {first:.4g} in 2023-11; it is worse since 2024-01."
    calm = when < np.datetime64("2024-01-01")
    found = compare(y[calm], p[calm], times=when[calm], every="week")
    assert found.reason.endswith("in 2023-W47; no change can be shown at the level of 0.05.")
    found = compare(y[calm], p[calm], times=when[calm])
    assert found.reason.endswith(f"of {len(found.candidates) - 1} periods one by one: longer ones show more.")


def test_changes_to_both_sides_are_told_apart():
    rng = np.random.default_rng(0)
    prob, period = rng.random(4000), np.repeat([1, 2, 3, 4], 1000)
    power = np.array([2.0, 4.0, 1.0, 2.0])[period - 1]
    y = (rng.random(4000) < prob**power).astype(int)
    assert compare(y, prob, times=period, metric="debiased-ece").reason.endswith("it is worse in 2 and better in 3.")
    assert "worse in 2" in compare(y, np.where(period == 2, 1 - prob, prob), times=period, metric="accuracy").reason


def test_rows_of_weight_zero_are_in_no_period():
    y, p, when = dated()
    weight = np.where(when < np.datetime64("2023-12-01"), 0, 1)
    found = compare(y, p, times=when, every="month", sample_weight=weight)
    assert found.first == "2023-12"
    assert found.n_rows == weight.sum()
    with pytest.raises(ValueError, match="periods must be 2 to 500; got 1, such as 2023-11"):
        compare(y, p, times=when, every="month", sample_weight=1 - weight)


NO_TIME = "times must have a value in each row; got a missing one"


@pytest.mark.parametrize(
    ("times", "every", "words"),
    [
        (None, "month", "every must be left out without times"),
        (["2024-13-01"] * 600, "month", "times must be dates where they are cut; got '2024-13-01'"),
        (pd.Series([pd.NaT, *DAYS[:599]]), "month", NO_TIME),
        ([None] * 600, "month", NO_TIME),
        (["2024-01-01"] * 600, "month", r"2 to 500; got 1, such as 2024-01\. Cut dates shorter, as by every='day'"),
        (np.arange(600), None, "periods must be 2 to 500; got 600, such as 0 and 599. Cut dates with every='month'"),
        (np.arange(599) % 2, None, "times must have one value for each row; got 599 for 600 rows"),
        (np.arange(600) % 2, "months", "Did you mean 'month'"),
        (["2024", None] * 300, None, NO_TIME),
        (["2024", ""] * 300, None, NO_TIME),
        (
            ["12.01.2026", "03.02.2026 8:00"] * 300,
            None,
            "times must be dates from the year on.*; got '03.02.2026 8:00'",
        ),
        (["4 Apr 2026", "May 3, 2026"] * 300, None, "times must be dates from the year on.* Write them as 2026-01-12"),
        (["Q1 2026", "W02 2025"] * 300, None, "times must be dates from the year on"),
        ([["2024-01-01"]] * 600, "month", r"times must have one value for each row; got shape \(600, 1\)"),
    ],
)
def test_what_are_no_periods_is_refused(times, every, words):
    y, p, _ = dated()
    with pytest.raises(ValueError, match=words):
        compare(y, p, times=times, every=every)


# Long work


class Counted(PlattScaling):
    """Platt scaling that writes a file for each fit."""

    folder = ""

    def _fit_problem(self, problem):
        with open(os.path.join(self.folder, "fits"), "a") as file:
            file.write("x")
        super()._fit_problem(problem)


def test_a_folder_keeps_what_was_fitted(tmp_path, monkeypatch):
    monkeypatch.setattr(Counted, "folder", str(tmp_path))
    y, p, _ = dated()
    how = {"calibrators": {"mine": Counted()}, "memory": tmp_path / "kept"}
    first = compare(y, {"a": p, "b": p**2}, **how)
    assert (tmp_path / "fits").read_text() == "x" * 10  # two forecasts in five folds
    again = compare(y, {"a": p, "b": p**2}, **how)
    assert (tmp_path / "fits").read_text() == "x" * 10
    assert [one.value for one in again.candidates] == [one.value for one in first.candidates]
    compare(y, {"a": p, "c": p**3}, **how)  # a is known
    assert (tmp_path / "fits").read_text() == "x" * 15
    compare(1 - y, p, **how)
    compare(y, p, **how, n_folds=4)
    compare(y, p, **how, rng=1)
    compare(y, p, **how, sample_weight=np.arange(y.size) % 3 + 1)
    assert (tmp_path / "fits").read_text() == "x" * (15 + 5 + 4 + 5 + 5)
    named = compare(np.where(y, "yes", "no"), p, **how, pos_label="yes")
    assert named.problems["mine"].classes.tolist() == ["no", "yes"]


def test_what_failed_is_tried_again(tmp_path, monkeypatch):
    monkeypatch.setattr(Counted, "folder", str(tmp_path / "none"))
    y, p, _ = dated()
    how = {"calibrators": {"mine": Counted()}, "memory": str(tmp_path / "kept")}
    assert "No such file" in compare(y, p, **how)["mine"].failure
    monkeypatch.setattr(Counted, "folder", str(tmp_path))
    assert not compare(y, p, **how)["mine"].failure


def test_a_busy_machine_is_no_failure(tmp_path, monkeypatch):
    """joblib warns where it is slow to write what it was called with; warnings are errors here."""
    monkeypatch.setattr("joblib.memory.time", SimpleNamespace(time=itertools.count().__next__))
    y, p, _ = dated()
    assert not compare(y, p, calibrators=["platt"], memory=tmp_path)["platt"].failure


def test_jobs_change_nothing():
    y, p, _ = dated()
    calibrators = ["platt", "isotonic", "sms"]
    one, two = (compare(y, {"a": p, "b": p**2}, calibrators=calibrators, n_jobs=jobs) for jobs in (None, 2))
    figures = [[(of.name, of.value, of.pvalue) for of in found.candidates] for found in (one, two)]
    assert figures[0] == figures[1]
    assert one.reason == two.reason


def test_a_bar_shows_how_far_it_is(capfd):
    pytest.importorskip("tqdm")
    y, p, _ = dated()
    compare(y, p, calibrators=["platt", "beta"], progress=True)
    assert "calibrators:" in capfd.readouterr().err
