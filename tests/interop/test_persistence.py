"""A saved calibrator is JSON that people can read, comes back to the last bit, and executes nothing."""

import json
import re
import tracemalloc
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

import calibrant
from calibrant import (
    ByNotion,
    CalibratedClassifier,
    EqualMass,
    HistogramBinning,
    IsotonicCalibration,
    NormalizedFlattenedIsotonic,
    SafeCalibrator,
    SortedCumulativeIsotonic,
    StructuredMatrixScaling,
    TemperatureScaling,
    load_calibrator,
    save_calibrator,
)
from calibrant._core.checksum import checksum_of
from calibrant._core.registry import _ENTRIES, Entry, entries
from calibrant.binning import Projection
from calibrant.calibrators import BinaryCalibrator, CanonicalBinning
from calibrant.interop import to_js, to_numpy, to_onnx, to_sql
from calibrant.interop.save import FORMAT, VERSION, decode, encode, from_document, to_document
from calibrant.notions import OneVsRest, ThresholdedClassWise, TopKConfidence, TopKLabel, as_notion

pytestmark = pytest.mark.filterwarnings("ignore:no calibration row is of class")

RNG = np.random.default_rng(0)
PROB = RNG.dirichlet([1.0, 1.0, 1.0, 0.01], 300)
PROB[:, 3] = 0.0  # the last class is never predicted: a part of top-label without rows
PROB /= PROB.sum(axis=1, keepdims=True)
TRUTH = (RNG.random((300, 1)) > PROB.cumsum(axis=1)).sum(axis=1).clip(0, 2)
NEW = RNG.dirichlet(np.ones(4), 200)

FITTED = {
    "temperature": lambda: TemperatureScaling().fit(PROB, TRUTH),
    "temperature of logits": lambda: TemperatureScaling(input="logit").fit(np.log(PROB + 1e-9), TRUTH),
    "isotonic": lambda: IsotonicCalibration().fit(PROB[:, 0], TRUTH == 0),
    "isotonic, interpolated": lambda: IsotonicCalibration(interpolate=True).fit(PROB[:, 0], TRUTH == 0),
    "not normalised": lambda: ByNotion(IsotonicCalibration(), "class-wise", normalize=False).fit(PROB, TRUTH),
    "words": lambda: TemperatureScaling(labels=["d", "c", "b", "ä"]).fit(PROB, np.array(list("dcbä"))[TRUTH]),
    "booleans": lambda: TemperatureScaling().fit(PROB[:, 0], TRUTH == 0),
}


def by_notion(notion, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", calibrant.exceptions.CalibrationWarning)  # the part without rows
        return ByNotion(IsotonicCalibration(interpolate=True), notion, **options).fit(PROB, TRUTH)


for notion in (OneVsRest(0), OneVsRest("2"), ThresholdedClassWise(0.2), TopKConfidence(2), TopKLabel(2)):
    FITTED[f"isotonic {notion!r}"] = lambda notion=notion: by_notion(notion)
for name in set(entries("notion")) - {"binary"}:
    FITTED[f"isotonic {name}"] = lambda name=name: by_notion(name)
FITTED["isotonic top-label, unseen as they are"] = lambda: by_notion("top-label", unseen="identity")
FITTED["isotonic binary"] = lambda: ByNotion(IsotonicCalibration(), "binary").fit(
    np.column_stack([1 - PROB[:, 0], PROB[:, 0]]), TRUTH == 0
)


@pytest.fixture(params=sorted(FITTED))
def calibrator(request):
    return FITTED[request.param]()


def new_forecast(calibrator):
    """Rows that the calibrator was not fitted on, ends of the range included."""
    if calibrator.n_features_in_ == 1:
        return np.concatenate([[0.0, 1.0], NEW[:, 0]])
    if calibrator.n_features_in_ == 2:
        return np.column_stack([1 - NEW[:, 0], NEW[:, 0]])
    return np.log(NEW) if calibrator.input == "logit" else np.vstack([np.eye(4), NEW])


# Round trips


def test_a_loaded_calibrator_calibrates_to_the_last_bit(calibrator, tmp_path):
    save_calibrator(calibrator, tmp_path / "c.json")
    loaded = load_calibrator(tmp_path / "c.json")
    forecast = new_forecast(calibrator)
    np.testing.assert_array_equal(loaded.calibrate(forecast), calibrator.calibrate(forecast))
    np.testing.assert_array_equal(loaded.predict(forecast), calibrator.predict(forecast))
    assert loaded.classes_.dtype.kind == calibrator.classes_.dtype.kind
    save_calibrator(loaded, tmp_path / "2.json")
    assert (tmp_path / "2.json").read_bytes() == (tmp_path / "c.json").read_bytes()


@pytest.mark.parametrize(
    ("notion", "written"),
    [
        (TopKLabel(2), {"notion": "top-k-label", "parameters": {"k": 2}}),
        (TopKConfidence(), {"notion": "top-k-confidence", "parameters": {"k": None}}),
        ("top-3-label", {"notion": "top-k-label", "parameters": {"k": 3}}),
        ("confidence", {"notion": "confidence", "parameters": {}}),
    ],
)
def test_a_notion_is_written_by_the_word_that_declares_it(notion, written):
    assert to_document(by_notion(notion))["calibrator"]["fitted"]["notion_"] == written


def test_a_notion_that_is_not_registered_is_not_saved(tmp_path):
    class Last(type(as_notion("confidence"))):
        """A notion that nobody declared."""

    with pytest.raises(TypeError, match=r"and notions, .* that are registered; got Last\("):
        save_calibrator(by_notion(Last()), tmp_path / "c.json")
    assert list(tmp_path.iterdir()) == []


def test_a_part_without_rows_that_nothing_serves_is_saved_as_null():
    assert to_document(by_notion("top-label", unseen="identity"))["calibrator"]["fitted"]["calibrators_"][3] is None


@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan, -0.0, 5e-324, 1 / 3])
def test_any_float_comes_back_to_the_last_bit(value):
    array = np.array([value, 0.5])
    text = json.dumps(encode(array), allow_nan=False)
    assert decode(json.loads(text)).tobytes() == array.tobytes()


def test_a_file_nested_too_deeply_is_refused(tmp_path):
    (tmp_path / "c.json").write_text("[" * 100_000)
    with pytest.raises(ValueError, match="must be a calibrator file"):
        load_calibrator(tmp_path / "c.json")


def test_column_names_are_kept_and_other_orders_refused(tmp_path):
    frame = pd.DataFrame({"p_cat": [0.2, 0.7, 0.6], "p_dog": [0.8, 0.3, 0.4]})
    save_calibrator(TemperatureScaling().fit(frame, [1, 0, 1]), tmp_path / "c.json")
    loaded = load_calibrator(tmp_path / "c.json")
    assert loaded.feature_names_in_.tolist() == ["p_cat", "p_dog"]
    with pytest.raises(ValueError, match="feature names"):
        loaded.predict_proba(frame[["p_dog", "p_cat"]])


def test_the_file_is_json_that_people_can_read(tmp_path):
    calibrator = FITTED["words"]()
    save_calibrator(calibrator, tmp_path / "c.json")
    text = (tmp_path / "c.json").read_text(encoding="utf-8")
    document = json.loads(text, parse_constant=pytest.fail)
    assert len(text.splitlines()) > 10
    assert "ä" in text
    assert document["format"] == FORMAT
    assert document["version"] == VERSION
    assert document["library"] == f"calibrant {calibrant.__version__}"
    assert document["classes"] == ["d", "c", "b", "ä"]
    assert document["input"] == "probability"
    assert document["calibrator"]["method"] == "temperature"
    assert document["calibrator"]["fitted"]["temperature_"] == calibrator.temperature_


# What is refused when saving


def test_an_existing_file_is_kept_unless_forced(tmp_path):
    (tmp_path / "c.json").write_text("mine")
    with pytest.raises(FileExistsError, match=r"already exists\. Pass --force"):
        save_calibrator(FITTED["temperature"](), tmp_path / "c.json")
    assert (tmp_path / "c.json").read_text() == "mine"
    save_calibrator(FITTED["temperature"](), tmp_path / "c.json", force=True)
    assert isinstance(load_calibrator(tmp_path / "c.json"), TemperatureScaling)


def test_an_unfitted_calibrator_is_not_saved(tmp_path):
    with pytest.raises(NotFittedError):
        save_calibrator(TemperatureScaling(), tmp_path / "c.json")
    assert list(tmp_path.iterdir()) == []


class Unregistered(IsotonicCalibration):
    """A method that nobody declared."""


@pytest.mark.parametrize(
    "fitted",
    [
        lambda: Unregistered().fit(PROB[:, 0], TRUTH == 0),
        lambda: ByNotion(Unregistered(), "class-wise").fit(PROB, TRUTH),
        lambda: LogisticRegression().fit(PROB, TRUTH),
    ],
    ids=["alone", "by notion", "of another library"],
)
def test_a_method_that_is_not_registered_is_not_saved(fitted, tmp_path):
    with pytest.raises(TypeError, match=r"the calibrator must be a .*; got (Unregistered|LogisticRegression)\. "):
        save_calibrator(fitted(), tmp_path / "c.json")
    assert list(tmp_path.iterdir()) == []


class Shift(BinaryCalibrator):
    """A method of somebody else, which annotates nothing."""

    def _fit(self, problem):
        self.shift_ = 0.1

    def _apply(self, score):
        return np.minimum(score + self.shift_, 1.0)


def test_a_method_that_annotates_nothing_is_looked_at_where_it_is_used(monkeypatch):
    monkeypatch.setitem(_ENTRIES["calibrator"], "shift", Entry("calibrator", "shift", "S", "a test", Shift))
    document = to_document(Shift().fit(PROB[:, 0], TRUTH == 0))
    assert from_document(document).calibrate([0.5]) == [0.6]
    document["calibrator"]["fitted"]["shift_"] = -0.5
    with pytest.raises(ValueError, match=r"the map of Shift must give probabilities from 0 to 1; got -0\.5"):
        from_document(resigned(document)).calibrate([0.0])


# What is refused when loading


def resigned(document):
    """The document with a checksum that fits: as someone would write it who wants to harm."""
    body = {key: value for key, value in document.items() if key != "checksum"}
    return body | {"checksum": checksum_of(body)}


@pytest.fixture
def document():
    return to_document(FITTED["temperature"]())


def saved(document, folder):
    path = folder / "c.json"
    path.write_text(json.dumps(document))
    return path


@pytest.mark.parametrize(
    ("version", "message"),
    [
        (
            VERSION + 1,
            rf"up to {VERSION}; got {VERSION + 1}: it was made by a newer calibrant \(calibrant 9.*Update: pip",
        ),
        (0, r"from 1 to \d; got 0 \(written by calibrant 9\.9\)\. Fit anew"),
        ("1", r"from 1 to \d; got '1'"),
        (True, r"from 1 to \d; got True"),
        (None, r"from 1 to \d; got None"),
    ],
)
def test_an_unknown_version_is_refused_with_the_library_that_wrote_it(version, message, document, tmp_path):
    path = saved(resigned(document | {"version": version, "library": "calibrant 9.9"}), tmp_path)
    with pytest.raises(ValueError, match=rf"c\.json must have a version {message}"):
        load_calibrator(path)


CHANGES = {
    "a figure": lambda d: d["calibrator"]["fitted"].update(temperature_=2.0),
    "NaN": lambda d: d["calibrator"]["fitted"].update(temperature_=float("nan")),
    "a class": lambda d: d.update(classes=[3, 2, 1, 0]),
    "the method": lambda d: d["calibrator"].update(method="isotonic"),
    "something added": lambda d: d.update(more=1),
    "the checksum": lambda d: d.update(checksum="sha256:0"),
    "no checksum": lambda d: d.pop("checksum"),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_changed_file_is_refused(change, document, tmp_path):
    change(document)
    with pytest.raises(ValueError, match=r"c\.json must match its checksum; it does not\. .*fit anew"):
        load_calibrator(saved(document, tmp_path))


def test_white_space_and_the_order_of_keys_are_free(document, tmp_path):
    path = tmp_path / "c.json"
    path.write_text(json.dumps(dict(reversed(document.items())), indent=7))
    assert load_calibrator(path).temperature_ == document["calibrator"]["fitted"]["temperature_"]


@pytest.mark.parametrize("kept", [0.0, 0.3, 0.98])
def test_a_truncated_file_is_refused(kept, document, tmp_path):
    path = tmp_path / "c.json"
    text = json.dumps(document)
    path.write_text(text[: int(kept * len(text))])
    with pytest.raises(ValueError, match=r"c\.json must be a calibrator file \(JSON\); it is not: .*Was it cut"):
        load_calibrator(path)


@pytest.mark.parametrize("content", ["[]", "{}", "1", "null", '"calibrant-calibrator"', '{"format": "other"}'])
def test_other_json_is_refused(content, tmp_path):
    (tmp_path / "c.json").write_text(content)
    with pytest.raises(ValueError, match=r"c\.json must be a calibrator file; it holds something else\. Make one"):
        load_calibrator(tmp_path / "c.json")


@pytest.mark.parametrize(("name", "kind"), [("nothing.json", FileNotFoundError), (".", IsADirectoryError)])
def test_a_path_that_cannot_be_read_is_refused(name, kind, tmp_path):
    with pytest.raises(kind, match=r"must be a file that can be read; got .*Check the path"):
        load_calibrator(tmp_path / name)


@pytest.mark.parametrize("method", ["os.system", "builtins.eval", "calibrant.cli.main", "ByNotion", ""])
def test_only_registered_methods_are_looked_up(method, document):
    document["calibrator"]["method"] = method
    with pytest.raises(ValueError, match=r"calibrator must be one of .*'temperature'"):
        from_document(resigned(document))


def with_calibrator(document, **changes):
    return resigned(document | {"calibrator": document["calibrator"] | changes})


@pytest.mark.parametrize(
    "changes",
    [
        {"fitted": {"calibrate": "x"}},
        {"fitted": {"__class__": "x"}},
        {"fitted": None},
        {"fitted": []},
        {"parameters": {"no_such": 1}},
        {"parameters": None},
        {"method": "by-notion", "parameters": {"notion": "class-wise"}, "fitted": {}},
        {"method": "by-notion"},
    ],
    ids=str,
)
def test_a_document_that_describes_no_calibrator_is_refused_even_if_its_checksum_fits(changes, document):
    with pytest.raises(ValueError, match=r"the document must describe a calibrator fully; got .*Fit anew"):
        from_document(with_calibrator(document, **changes))


BODIES = {
    "by notion": lambda: by_notion("top-label"),
    "canonical": lambda: CanonicalBinning(Projection(5)).fit(PROB, TRUTH),
    "histogram": lambda: HistogramBinning(EqualMass(5)).fit(PROB[:, 0], TRUTH == 0),
    "NA-FIR": lambda: NormalizedFlattenedIsotonic(smoothing=0.01).fit(PROB, TRUTH),
    "SCIR": lambda: SortedCumulativeIsotonic(epsilon=1e-3).fit(PROB, TRUTH),
    "in a safe one": lambda: SafeCalibrator(CanonicalBinning(Projection(5))).fit(PROB, TRUTH),
}


def test_what_is_damaged_below_is_whole_before():
    for make in BODIES.values():
        from_document(resigned(to_document(make())))


def array_of(fitted, name):
    return fitted[name]["array"]


def pooled(calibrator):
    return calibrator["fitted"]["pooled_"]["calibrator"]


DAMAGES = [
    (
        "canonical",
        lambda c: c["fitted"]["value_"].update(array=[row[:3] for row in array_of(c["fitted"], "value_")]),
        "value_ must be numbers, .* of shape",
    ),
    ("canonical", lambda c: array_of(c["fitted"], "value_").pop(), r"of shape \(5, 4\); got shape \(4, 4\)"),
    ("canonical", lambda c: array_of(c["fitted"], "count_").pop(), r"count_ .* of shape \(5,\); got shape \(4,\)"),
    (
        "canonical",
        lambda c: array_of(c["fitted"], "value_").__setitem__(2, [0.5, 0.5, 0.5, 0.5]),
        "rows of value_ must sum to one;",
    ),
    (
        "in a safe one",
        lambda c: next(
            held["calibrator"]["calibrator"]["fitted"]["value_"].update(array=[[0.5, 0.5]] * 5)
            for held in c["fitted"].values()
            if isinstance(held, dict) and "calibrator" in held
        ),
        "value_ must be numbers, .* got",
    ),
    ("by notion", lambda c: c["fitted"]["calibrators_"].pop(), "as many as TopLabel.. makes of 4 classes; got 3"),
    ("by notion", lambda c: c["fitted"]["calibrators_"].append(None), "problems must be .*; got 5"),
    ("by notion", lambda c: c["parameters"].update(unseen="bogus"), "unseen must be one of 'pooled', 'identity'"),
    ("by notion", lambda c: c["parameters"].update(normalize="no"), "normalize must be True or False"),
    ("by notion", lambda c: c["fitted"].update(pooled_=None), "pooled must be a map where a problem has none"),
    ("by notion", lambda c: pooled(c).update(fitted={}), "left_ must be there; got none"),
    (
        "by notion",
        lambda c: array_of(pooled(c)["fitted"], "value_").__setitem__(0, -1.0),
        "value_ must be numbers, at least",
    ),
    (
        "by notion",
        lambda c: array_of(c["fitted"]["calibrators_"][1]["calibrator"]["fitted"], "value_").__setitem__(-1, 2.0),
        "value_ must be numbers, .*; got",
    ),
    ("histogram", lambda c: array_of(c["fitted"], "value_").pop(), "edges_ must be numbers"),
    ("NA-FIR", lambda c: array_of(c["fitted"], "left_").reverse(), "left_ must be numbers, .*rising; got"),
    ("NA-FIR", lambda c: array_of(c["fitted"], "log_value_").reverse(), "log_value_ must be numbers, rising; got"),
    ("NA-FIR", lambda c: array_of(c["fitted"], "log_value_").pop(), "log_value_ must be numbers, rising, of shape"),
    ("SCIR", lambda c: array_of(c["fitted"], "score_").reverse(), "score_ must be numbers, at least 0, not falling;"),
    ("SCIR", lambda c: array_of(c["fitted"], "value_").__setitem__(-1, 1.5), "value_ must be numbers, .* at most 1;"),
    ("SCIR", lambda c: c["fitted"].update(epsilon_=-1.0), "epsilon_ must be a number, at least 0 and at most 1"),
    ("canonical", lambda c: array_of(c["fitted"], "value_")[0].pop(), "value_: array must have rows"),
]


@pytest.mark.parametrize(("body", "damage", "message"), DAMAGES, ids=[row[-1][:60] for row in DAMAGES])
def test_a_damaged_body_is_refused_though_its_checksum_fits(body, damage, message):
    document = to_document(BODIES[body]())
    damage(document["calibrator"])
    with pytest.raises(ValueError, match=f"the document must describe a calibrator fully; got .*{message}.*Fit anew"):
        from_document(resigned(document))


@pytest.mark.parametrize(
    ("columns", "error"), [(["one"], ValueError), (5, TypeError), ("ab", TypeError)], ids=["too few", "number", "text"]
)
def test_names_of_columns_that_do_not_fit_are_refused(columns, error, tmp_path):
    fitted = TemperatureScaling().fit(PROB[:, :2] / PROB[:, :2].sum(axis=1, keepdims=True), TRUTH == 1)
    with pytest.raises(error, match=r"columns must .*; got .*\. Pass"):
        save_calibrator(fitted, tmp_path / "c.json", columns=columns)


def test_a_loaded_calibrator_can_be_fitted_again_with_the_labels_it_was_given():
    labels, words = ["d", "c", "b", "ä"], np.array(list("dcbä"))[TRUTH]
    loaded = from_document(to_document(TemperatureScaling(labels=labels).fit(PROB, words)))
    assert loaded.fit(PROB, words).classes_.tolist() == labels


def test_calibrators_inside_calibrators_come_back_to_the_last_bit(tmp_path):
    inner = ByNotion(HistogramBinning(EqualMass(5)), "class-wise")
    for original in map(SafeCalibrator, (inner, StructuredMatrixScaling(), CanonicalBinning(Projection(5)))):
        save_calibrator(original.fit(PROB, TRUTH), tmp_path / "c.json", force=True)
        loaded = load_calibrator(tmp_path / "c.json")
        np.testing.assert_array_equal(loaded.predict_proba(NEW), original.predict_proba(NEW))
        assert repr(loaded) == repr(original)


def test_a_random_state_that_is_no_number_cannot_be_saved(tmp_path):
    fitted = SafeCalibrator(random_state=np.random.RandomState(0)).fit(PROB, TRUTH)
    with pytest.raises(
        TypeError, match=r"holds numbers, strings, .*; got RandomState.*such as a number for a random state"
    ):
        save_calibrator(fitted, tmp_path / "c.json")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("calibrator", ["temperature", "isotonic"])
def test_of_a_classifier_the_calibrator_is_saved_and_the_estimator_is_named(calibrator, tmp_path):
    words = np.array(["eel", "dog", "cat", "ant"])[TRUTH]
    classifier = CalibratedClassifier(GaussianNB(var_smoothing=1e-3), calibrator, cv=3).fit(PROB, words)
    save_calibrator(classifier, tmp_path / "c.json")
    loaded, estimator = load_calibrator(tmp_path / "c.json"), classifier.pairs_[0][0]
    np.testing.assert_array_equal(loaded.predict_proba(estimator.predict_proba(NEW)), classifier.predict_proba(NEW))
    assert loaded.classes_.tolist() == classifier.classes_.tolist() == ["cat", "dog", "eel"]
    assert json.loads((tmp_path / "c.json").read_text())["classifier"] == "GaussianNB(var_smoothing=0.001)"
    for export in (to_numpy, to_sql, to_js):
        named = export(classifier)
        assert named.replace(" to GaussianNB(var_smoothing=0.001) and", " and") == export(classifier.pairs_[0][1])
        assert len(named) > len(export(classifier.pairs_[0][1]))
    pytest.importorskip("onnx")
    assert "GaussianNB(var_smoothing=0.001)" in str(to_onnx(classifier))


@pytest.mark.parametrize("wrong", [{"ensemble": True}, {"label_smoothing": 0.1}], ids=str)
def test_a_classifier_of_more_than_a_calibrator_is_refused_and_the_advice_cures(wrong, tmp_path):
    classifier = CalibratedClassifier(GaussianNB(), "temperature", cv=3, **wrong)
    with pytest.raises(ValueError, match=r"must have one, and no label smoothing; got .*\. Fit with") as refused:
        save_calibrator(classifier.fit(PROB, TRUTH), tmp_path / "c.json")
    advice = re.search(r"Fit with (.*)\.$", str(refused.value))[1]
    save_calibrator(classifier.set_params(**eval(f"dict({advice})")).fit(PROB, TRUTH), tmp_path / "c.json")
    with pytest.raises(NotFittedError):
        save_calibrator(CalibratedClassifier(GaussianNB()), tmp_path / "d.json")
    with pytest.raises(NotFittedError):
        to_numpy(CalibratedClassifier(GaussianNB()))


# What a file may say, and what it may cost


def with_fitted(document, **fitted):
    return with_calibrator(document, fitted=document["calibrator"]["fitted"] | fitted)


NOTHING = {"array": [], "dtype": "float64"}
SIERPINSKI = {
    "method": "canonical-binning",
    "parameters": {},
    "fitted": {
        "partition_": {"cells of": "sierpinski", "parameters": {"depth": 10**9}},
        "value_": NOTHING,
        "count_": {"array": [], "dtype": "int64"},
    },
}

WRONG = [
    (lambda d: with_fitted(d, temperature_=-1), "temperature_ must be a number, at least 1e-100; got -1"),
    (lambda d: d | {"classes": []}, r"classes must be two or more .*; got \[\]"),
    (lambda d: d | {"classes": [0], "columns": 1}, r"classes must be two or more .*; got \[0\]"),
    (lambda d: d | {"classes": [0, 0, 1, 2]}, r"classes must be there once each; .*\[0, 0, 1, 2\]"),
    (lambda d: d | {"classes": [1, 0, 2, 3]}, r"classes must be sorted, .*; got \[1, 0, 2, 3\]"),
    (lambda d: d | {"classes": [0, "1", 2, 3]}, "classes must be two or more numbers, booleans or w"),
    (lambda d: d | {"classes": [0, 1, 2, 10**30]}, "classes must be finite numbers of 64 bits"),
    (
        lambda d: d | {"classes": ["a" * 10**5, *map(str, range(999))], "columns": 1000},
        "classes must be words of like lengths;",
    ),
    (lambda d: d | {"columns": 5}, "columns must be as many as classes, 4; got 5"),
    (lambda d: d | {"column_names": ["a", "b", "c"]}, "columns must name each of the 4 columns"),
    (
        lambda d: d | {"calibrator": to_document(FITTED["isotonic"]())["calibrator"]},
        "classes must be two for IsotonicCalibration;",
    ),
    (
        lambda d: with_fitted(d, temperature_={"array": [1.0], "dtype": "S2000000000"}),
        "temperature_: dtype must be one",
    ),
    (lambda d: with_calibrator(d, **SIERPINSKI), "depth must be at most 12; got 1000000000"),
    (lambda d: with_fitted(d, left_=1.0), "'left_' is no fitted attribute of Temp"),
    (
        lambda d: (
            d
            | {
                "calibrator": {
                    "method": "safe",
                    "parameters": {},
                    "fitted": dict.fromkeys(
                        ("identity_loss_", "candidate_loss_", "pooled_loss_", "standard_error_"), 1.0
                    )
                    | {"weight_": 1.0, "gradient_": 0.0, "n_iter_": 1}
                    | {"calibrator_": {"calibrator": {"method": "temperature", "parameters": {}}}},
                }
            }
        ),
        "calibrator_ must be a fitted calibrator;",
    ),
]


@pytest.mark.parametrize(("change", "message"), WRONG, ids=[row[-1][:60] for row in WRONG])
def test_what_no_fit_gives_is_refused_by_its_name(change, message, document):
    with pytest.raises(ValueError, match=f"the document must describe a calibrator fully; got .*{message}.*Fit anew"):
        from_document(resigned(change(document)))


@pytest.mark.parametrize("depth", [70, 900])
def test_calibrators_inside_calibrators_have_an_end(depth, document):
    held = document["calibrator"]
    for _ in range(depth):
        held = {"method": "safe", "parameters": {"calibrator": {"calibrator": held}}}
    with pytest.raises(ValueError, match="the document must have at most 64 levels; it has more"):
        from_document(document | {"calibrator": held})


def test_a_number_of_thousands_of_digits_is_refused(document, tmp_path):
    (tmp_path / "c.json").write_text(json.dumps(document).replace("probability", "x").replace('"x"', "9" * 5000))
    with pytest.raises(ValueError, match=r"c\.json must be a calibrator file \(JSON\); it is not: .*digits"):
        load_calibrator(tmp_path / "c.json")


CERTIFICATE = {"gradient_": 0.0, "n_iter_": 3}


def many_classes(k):
    """Calibrators of many classes, as small as files make them."""
    line = {"method": "by-notion", "parameters": {"calibrator": "platt", "unseen": "identity"}}
    unserved = {"notion_": {"notion": "top-label", "parameters": {}}, "calibrators_": [None] * k, "pooled_": None}
    steps = {"array": [i / k for i in range(k // 4)], "dtype": "float64"}
    return {
        "temperature": {"method": "temperature", "parameters": {}, "fitted": {"temperature_": 1.5, **CERTIFICATE}},
        "top-label": line | {"fitted": unserved},
        "scir": {
            "method": "scir",
            "parameters": {},
            "fitted": {
                "epsilon_": 0.1,
                "score_": steps,
                "value_": steps,
                "rank_": {"array": [1] * (k // 4), "dtype": "int64"},
            },
        },
    }


@pytest.mark.parametrize("name", many_classes(8))
def test_a_file_is_read_in_memory_in_proportion_to_its_size(name, document, tmp_path):
    k = 10_000
    big = document | {"classes": list(range(k)), "columns": k, "calibrator": many_classes(k)[name]}
    (tmp_path / "c.json").write_text(json.dumps(resigned(big), indent=2))
    size = (tmp_path / "c.json").stat().st_size
    tracemalloc.start()
    load_calibrator(tmp_path / "c.json")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1_000_000 + 12 * size


# Labels and words at the edges


def test_small_and_very_large_whole_numbers_stay_classes(tmp_path):
    labels = np.array([5, 7, 2**63 + 2049], dtype=np.uint64)
    prob = NEW[:, :3] / NEW[:, :3].sum(axis=1, keepdims=True)
    truth = labels[np.arange(len(prob)) % 3]
    fitted = TemperatureScaling(labels=labels).fit(prob, truth)
    save_calibrator(fitted, tmp_path / "c.json")
    loaded = load_calibrator(tmp_path / "c.json")
    assert loaded.classes_.dtype == np.uint64
    assert loaded.classes_.tolist() == labels.tolist()
    assert loaded.fit(prob, truth).classes_.tolist() == labels.tolist()


@pytest.mark.parametrize("classes", [[-1, 1, 2, 2**63], [0, 1, 2, 2**64]])
def test_whole_numbers_of_more_than_64_bits_are_refused(classes, document):
    with pytest.raises(ValueError, match="classes must be finite numbers of 64 bits, signed or unsigned; got"):
        from_document(resigned(document | {"classes": classes}))


@pytest.mark.parametrize("key", ["classes", "column_names"])
def test_words_that_utf8_cannot_encode_are_refused(key, document):
    with pytest.raises(ValueError, match=rf"{key} must be words that UTF-8 can encode; got '\\ud800'"):
        from_document(resigned(document | {key: ["\ud800", "b", "c", "d"]}))


def test_classes_of_bytes_are_not_saved_and_decoding_cures(tmp_path):
    labels = np.array([b"a", b"b", b"c", b"d"])
    with pytest.raises(TypeError, match=r"got bytes, .*Fit with words: np\.char\.decode\(labels\)"):
        save_calibrator(TemperatureScaling(labels=labels).fit(PROB, labels[TRUTH]), tmp_path / "c.json")
    words = np.char.decode(labels)
    save_calibrator(TemperatureScaling(labels=words).fit(PROB, words[TRUTH]), tmp_path / "c.json")
    assert load_calibrator(tmp_path / "c.json").classes_.tolist() == ["a", "b", "c", "d"]


def test_a_byte_order_mark_is_no_part_of_the_file(document, tmp_path):
    (tmp_path / "c.json").write_text(json.dumps(document), encoding="utf-8-sig")
    assert load_calibrator(tmp_path / "c.json").classes_.tolist() == [0, 1, 2, 3]


def test_a_map_of_all_classes_is_none_of_each_problem():
    document = to_document(ByNotion(IsotonicCalibration(), "class-wise").fit(PROB, TRUTH))
    document["calibrator"]["parameters"]["calibrator"] = "temperature"
    with pytest.raises(ValueError, match=r"calibrator must be .* of one score; got .*TemperatureScaling"):
        from_document(resigned(document))
