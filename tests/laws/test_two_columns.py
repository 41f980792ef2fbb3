"""A table of two columns speaks of its second: f(y, [1 - p, p]) is f(y, p), with every default and for everything public."""

import inspect
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import partial

import numpy as np
import pytest

import calibrant
from calibrant import ByNotion, IsotonicCalibration, assess, calibration_slope, cli, decide, paired_test
from calibrant._core.lazy import homes, load
from calibrant.decisions import estimate_prior, shift_prior
from calibrant.interop.tables import write_table
from calibrant.registry import entries
from calibrant.significance import by_class, by_group, cox_test, resampling_test

pytestmark = pytest.mark.filterwarnings("ignore::calibrant.exceptions.CalibrationWarning")

RNG = np.random.default_rng(16)
P = np.concatenate([RNG.beta(2, 2, 150).round(3), np.repeat([0.25, 0.5, 0.75], 10)])
Y = (RNG.random(P.size) < P**1.5).astype(int)
WEIGHT = RNG.integers(1, 4, P.size).astype(float)
Q = P**1.2


def table(p):
    return np.column_stack([1.0 - p, p])


NEEDS = {"equivalence_test": {"bound": 0.05}, "epistemic_irreducible": {"posterior": Q}}
"""What a function of labels and forecast must be given besides."""

FUNCTIONS = [
    name
    for name in sorted(set(homes()) - {"simplex_points"})  # of three or four classes
    if inspect.isfunction(load(name)) and list(inspect.signature(load(name)).parameters)[:2] == ["y_true", "y_prob"]
]


def leaves(result, path=""):
    """Every number, word and array that a result holds, by where it stands."""
    if isinstance(result, (str, int, float, bool, np.generic, np.ndarray, type(None))):
        yield path, result
    elif is_dataclass(result):
        for field in fields(result):
            if field.name == "of_whole":  # known of parts only, and derived where it is not
                continue
            yield from leaves(getattr(result, field.name), f"{path}.{field.name}")
    elif isinstance(result, Mapping):
        for key, value in result.items():
            yield from leaves(value, f"{path}[{key!r}]")
    elif isinstance(result, (list, tuple)):
        for number, value in enumerate(result):
            yield from leaves(value, f"{path}[{number}]")
    elif hasattr(result, "get_title"):  # a picture
        yield f"{path}.title", result.get_title()
        yield from ((f"{path}.text[{number}]", text.get_text()) for number, text in enumerate(result.texts))
        yield from ((f"{path}.bars[{number}]", bars[0].get_xydata()) for number, bars in enumerate(result.containers))


def assert_same(one, other):
    found, wanted = dict(leaves(one)), dict(leaves(other))
    assert found.keys() == wanted.keys()
    assert found
    for path, value in wanted.items():
        if isinstance(value, np.ndarray) and value.dtype.kind in "fiub":
            np.testing.assert_allclose(found[path], value, rtol=1e-9, atol=1e-12, err_msg=path)
        elif isinstance(value, float):
            assert found[path] == pytest.approx(value, rel=1e-9, abs=1e-12, nan_ok=True), path
        else:
            np.testing.assert_array_equal(found[path], value, err_msg=path)


def needs(name, shaped):
    """What a function needs besides: of a posterior, what is made of its second column."""
    return {key: shaped(value) if key == "posterior" else value for key, value in NEEDS.get(name, {}).items()}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["", "weighted"])
def test_every_public_function_speaks_of_the_second_column(name, weight):
    of_two = load(name)(Y, table(P), sample_weight=weight, **needs(name, table))
    assert_same(of_two, load(name)(Y, P, sample_weight=weight, **needs(name, np.asarray)))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_logits_speak_of_the_second_column(name):
    if "posterior" in NEEDS.get(name, {}):
        pytest.skip("a truth is never a logit")
    logit = np.log(P / (1.0 - P))
    function = partial(load(name), input="logit", **NEEDS.get(name, {}))
    assert_same(function(Y, np.column_stack([np.zeros(P.size), logit])), function(Y, logit))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_event_of_two_columns_is_the_positive_label(name):
    """``pos_label`` names it for a table as for its own column; and the other one is the default for no one."""
    y, function, two = np.where(Y, "yes", "no"), load(name), table(P)[:, ::-1]
    of_two = function(y, two, labels=["yes", "no"], pos_label="yes", **needs(name, lambda q: table(q)[:, ::-1]))
    assert_same(of_two, function(y, P, labels=["no", "yes"], **needs(name, np.asarray)))


METRICS = entries("metric")


def test_assess_gives_the_figures_of_the_column_for_every_metric():
    assert_same(*(assess(Y, p, metrics=list(METRICS), n_resamples=30, sample_weight=WEIGHT) for p in (table(P), P)))


@pytest.mark.parametrize("name", entries("test"))
def test_by_class_makes_one_test_of_one_event(name):
    test = cox_test if name == "equivalence" else entries("test")[name].target
    found, of_one = by_class(test, Y, table(P)), by_class(test, Y, P)
    assert found.names == ("class 1",)
    assert_same(found, of_one)
    assert found.adjusted[0] == found.pvalues[0]


def test_functions_of_several_forecasts_speak_of_the_second_column():
    assert_same(paired_test(Y, table(P), table(Q), n_resamples=50), paired_test(Y, P, Q, n_resamples=50))
    assert_same(by_group(resampling_test, Y, table(P), Y), by_group(resampling_test, Y, P, Y))
    for curve in (calibrant.decision_curve, calibrant.decisions.expected_cost_curve):
        assert_same(curve(Y, {"a": table(P), "b": table(Q)}), curve(Y, {"a": P, "b": Q}))


def test_decisions_and_shares_are_those_of_the_column():
    cost = [[0, 1], [1, 0]]  # half of the rows of 0.5 would be decided otherwise by the first of equal costs
    assert_same(decide(table(P), cost), decide(P, cost))
    assert_same(estimate_prior(table(P), old_prior=0.4), estimate_prior(P, old_prior=0.4))
    assert_same(shift_prior(table(P), old_prior=0.4, new_prior=0.1)[:, 1], shift_prior(P, old_prior=0.4, new_prior=0.1))


MAPS = {name: entry.target for name, entry in entries("calibrator").items()}
MAPS |= {"by notion": lambda: ByNotion(IsotonicCalibration())}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", MAPS)
@pytest.mark.parametrize("input", ["probability", "logit"])
def test_every_calibrator_maps_two_columns_as_the_second(name, input):
    column, two = (decimal := (P**2).round(1)), table(decimal)  # many equal rows: folds are drawn by their numbers
    if input == "logit":
        column = np.log((0.01 + column) / (1.01 - column))
        two = np.column_stack([np.zeros(P.size), column])
    of_two, of_one = (MAPS[name]().set_params(input=input).fit(x, Y, WEIGHT / 7) for x in (two, column))
    np.testing.assert_allclose(of_two.predict_proba(two), of_one.predict_proba(column), rtol=1e-9, atol=1e-12)


def test_by_notion_fits_one_map_of_two_classes_and_one_a_class_of_more():
    assert len(ByNotion(IsotonicCalibration()).fit(table(P), Y).calibrators_) == 1
    assert len(ByNotion(IsotonicCalibration()).fit(P, Y).calibrators_) == 1
    assert len(ByNotion(IsotonicCalibration(), "class-wise").fit(table(P), Y).calibrators_) == 2
    three = np.random.default_rng(0).dirichlet(np.ones(3), 60)
    assert len(ByNotion(IsotonicCalibration()).fit(three, np.arange(60) % 3).calibrators_) == 3


def test_what_is_written_out_stays():
    assert calibration_slope(Y, table(P), notion="confidence") != pytest.approx(calibration_slope(Y, P))
    assert calibration_slope(Y, table(P), notion="confidence") == calibration_slope(Y, P, notion="confidence")
    assert by_class(cox_test, Y, table(P), notion="class-wise").names == ("class 0", "class 1")
    found = assess(Y, table(P), metrics=["ece", "top-label-ece", "skce"], notion="confidence", n_resamples=9)
    assert [row.event for row in found.rows] == ["confidence", "top-label", "canonical"]
    assert found["ece"].value == calibrant.expected_calibration_error(Y, table(P), notion="confidence")
    assert found["top-label-ece"].value == calibrant.top_label_calibration_error(Y, P)


@pytest.mark.parametrize("name", [name for name, entry in METRICS.items() if entry.takes_notion])
@pytest.mark.parametrize("notion", ["confidence", "binary"])
def test_assess_measures_under_the_notion_that_is_asked_for(name, notion):
    estimate = assess(Y, table(P), metrics=[name], notion=notion, n_resamples=5)[name]
    assert estimate.value == pytest.approx(METRICS[name].target(Y, table(P), notion=notion), rel=1e-12)


# Outputs name the event


def test_assess_names_the_event_in_table_frame_and_repr():
    y = np.where(Y, "yes", "no")
    for prob, options in ((table(P), {}), (P, {"pos_label": "yes"}), (table(P)[:, ::-1], {"labels": ["yes", "no"]})):
        found = assess(y, prob, n_resamples=5, **options)
        event = "class no" if "labels" in options else "class yes"
        assert found.event == event
        assert str(found).startswith(f"{P.size} rows, 2 classes, event: {event}\n")
        assert f"event: {event}" in found._repr_html_()
        assert f"event={event!r}" in repr(found)
        assert found.to_frame("polars")["event"].to_list() == [None, None, None, event, event]


@pytest.mark.parametrize("name", entries("test"))
def test_the_hypothesis_of_a_test_names_the_event(name):
    y, test = np.where(Y, "yes", "no"), entries("test")[name].target
    for prob, options in ((P, {"pos_label": "yes"}), (table(P), {})):
        result = test(y, prob, **options, **NEEDS.get(test.__name__, {}))
        assert result.hypothesis.endswith(" (event: class yes)")
    (part,) = by_class(partial(test, **NEEDS.get(test.__name__, {})), y, table(P)).results
    assert part.hypothesis == result.hypothesis


def test_a_positive_label_that_no_column_has_is_refused():
    with pytest.raises(ValueError, match=r"pos_label must be among the labels \[0, 1\]; got 'maybe'"):
        assess(Y, table(P), pos_label="maybe")
    with pytest.raises(ValueError, match=r"pos_label must be left out when y_prob has more than two columns; got 2"):
        assess([0, 1, 2], np.eye(3), pos_label=2)


# Commands


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_table("one.csv", {"label": Y, "p": P})
    write_table("two.csv", {"label": Y, "p_0": 1.0 - P, "p_1": P})


def printed(capsys, words):
    assert cli.main(words.split()) == 0
    return capsys.readouterr().out


COMMANDS = [f"assess FILE --resamples 20 {more}" for more in ("", "--pos-label 1", "--notion confidence")]
COMMANDS += ["test FILE", "test FILE --notion confidence", "decide FILE", "decide FILE --costs 0,4;1,0"]


@pytest.mark.parametrize("words", COMMANDS)
def test_every_command_prints_of_two_columns_what_it_prints_of_one(words, files, capsys):
    one, two = (printed(capsys, words.replace("FILE", file)) for file in ("one.csv", "two.csv"))
    assert one == two
    assert ("notion: confidence" if "confidence" in words else "class 1") in one
