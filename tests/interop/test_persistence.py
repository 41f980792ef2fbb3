"""A saved calibrator is JSON that people can read, comes back to the last bit, and executes nothing."""

import json
import re
import tracemalloc
import warnings
from operator import itemgetter

import numpy as np
import pytest
from laws.test_saved_calibrators import changed, resigned
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

import calibrant
from calibrant import ByNotion, CalibratedClassifier, SafeCalibrator, StructuredMatrixScaling, TemperatureScaling
from calibrant import calibrators as cals
from calibrant._core.registry import _ENTRIES, Entry, entries
from calibrant.binning import EqualMass, Projection
from calibrant.calibrators import BinaryCalibrator, CanonicalBinning, HistogramBinning, IsotonicCalibration
from calibrant.interop import load_calibrator, save_calibrator, to_js, to_numpy, to_onnx, to_sql
from calibrant.interop.save import VERSION, decode, encode, from_document, to_document
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
    "safe by notion": lambda: SafeCalibrator(ByNotion(HistogramBinning(EqualMass(5)), "class-wise")).fit(PROB, TRUTH),
    "safe structured": lambda: SafeCalibrator(StructuredMatrixScaling()).fit(PROB, TRUTH),
    "safe canonical": lambda: SafeCalibrator(CanonicalBinning(Projection(5))).fit(PROB, TRUTH),
}


def by_notion(notion, **options):
    # The part without rows is told of.
    with warnings.catch_warnings(action="ignore", category=calibrant.exceptions.CalibrationWarning):
        return ByNotion(IsotonicCalibration(interpolate=True), notion, **options).fit(PROB, TRUTH)


for notion in (OneVsRest(0), OneVsRest("2"), ThresholdedClassWise(0.2), TopKConfidence(2), TopKLabel(2)):
    FITTED[f"isotonic {notion!r}"] = lambda notion=notion: by_notion(notion)
for name in set(entries("notion")) - {"binary"}:
    FITTED[f"isotonic {name}"] = lambda name=name: by_notion(name)
FITTED["isotonic top-label, unseen as they are"] = lambda: by_notion("top-label", unseen="identity")
TWO = np.column_stack([1 - PROB[:, 0], PROB[:, 0]])
FITTED["isotonic binary"] = lambda: ByNotion(IsotonicCalibration(), "binary").fit(TWO, TRUTH == 0)


def new_forecast(calibrator):
    """Rows that the calibrator was not fitted on, ends of the range included."""
    if calibrator.n_features_in_ == 1:
        return np.concatenate([[0.0, 1.0], NEW[:, 0]])
    if calibrator.n_features_in_ == 2:
        return np.column_stack([1 - NEW[:, 0], NEW[:, 0]])
    return np.log(NEW) if calibrator.input == "logit" else np.vstack([np.eye(4), NEW])


# Round trips


@pytest.mark.parametrize("name", sorted(FITTED))
def test_a_loaded_calibrator_calibrates_to_the_last_bit(name, tmp_path):
    calibrator = FITTED[name]()
    save_calibrator(calibrator, tmp_path / "c.json")
    loaded = load_calibrator(tmp_path / "c.json")
    forecast = new_forecast(calibrator)
    np.testing.assert_array_equal(loaded.calibrate(forecast), calibrator.calibrate(forecast))
    np.testing.assert_array_equal(loaded.predict(forecast), calibrator.predict(forecast))
    assert (loaded.classes_.dtype.kind, repr(loaded)) == (calibrator.classes_.dtype.kind, repr(calibrator))
    save_calibrator(loaded, tmp_path / "2.json")
    assert (tmp_path / "2.json").read_bytes() == (tmp_path / "c.json").read_bytes()


def test_a_part_without_rows_that_nothing_serves_is_saved_as_null():
    assert to_document(by_notion("top-label", unseen="identity"))["calibrator"]["fitted"]["calibrators_"][3] is None


@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan, -0.0, 5e-324, 1 / 3])
def test_any_float_comes_back_to_the_last_bit(value):
    array = np.array([value, 0.5])
    text = json.dumps(encode(array), allow_nan=False)
    assert decode(json.loads(text)).tobytes() == array.tobytes()


def test_the_file_is_json_that_people_can_read(tmp_path):
    save_calibrator(FITTED["words"](), tmp_path / "c.json")
    text = (tmp_path / "c.json").read_text(encoding="utf-8")
    document = json.loads(text, parse_constant=pytest.fail)
    assert len(text.splitlines()) > 10
    assert "ä" in text
    assert document["library"] == f"calibrant {calibrant.__version__}"


# What is refused when saving


class Unregistered(IsotonicCalibration):
    """A method that nobody declared."""


class Last(type(as_notion("confidence"))):
    """A notion that nobody declared."""


UNSAVED = [
    (TemperatureScaling, NotFittedError, "not fitted yet"),
    (lambda: CalibratedClassifier(GaussianNB()), NotFittedError, "not fitted yet"),
    (lambda: Unregistered().fit(PROB[:, 0], TRUTH == 0), TypeError, r"must be a .*; got Unregistered\. "),
    (lambda: ByNotion(Unregistered(), "class-wise").fit(PROB, TRUTH), TypeError, r"must be a .*; got Unregistered\. "),
    (lambda: LogisticRegression().fit(PROB, TRUTH), TypeError, "must be a fitted calibrator; got LogisticRegression"),
    (lambda: by_notion(Last()), TypeError, r"and notions, .* that are registered; got Last\("),
    (
        lambda: SafeCalibrator(random_state=np.random.RandomState(0)).fit(PROB, TRUTH),
        TypeError,
        r"holds numbers, strings, .*; got RandomState.*such as a number for a random state",
    ),
]


@pytest.mark.parametrize(("fitted", "error", "message"), UNSAVED, ids=[f"{k}" for k in range(len(UNSAVED))])
def test_what_cannot_be_read_again_is_not_saved(fitted, error, message, tmp_path):
    with pytest.raises(error, match=message):
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


@pytest.fixture
def document():
    return to_document(FITTED["temperature"]())


@pytest.mark.parametrize(
    ("version", "message"),
    [
        (VERSION + 1, rf"up to {VERSION}; got {VERSION + 1}: it was made by a newer .* \(calibrant 9.*Update: pip"),
        (0, r"from 1 to \d; got 0 \(written by calibrant 9\.9\)\. Fit anew"),
        ("1", r"from 1 to \d; got '1'"),
        (True, r"from 1 to \d; got True"),
        (None, r"from 1 to \d; got None"),
        ("1" * 999, r"from 1 to \d; got '1{39} \("),
    ],
)
def test_an_unknown_version_is_refused_with_the_library_that_wrote_it(version, message, document, tmp_path):
    (tmp_path / "c.json").write_text(json.dumps(resigned(document | {"version": version, "library": "calibrant\n9.9"})))
    with pytest.raises(ValueError, match=rf"c\.json must have a version {message}"):
        load_calibrator(tmp_path / "c.json")


CHANGES = {
    "NaN": lambda d: d["calibrator"]["fitted"].update(temperature_=float("nan")),
    "a class": lambda d: d.update(classes=[3, 2, 1, 0]),
    "something added": lambda d: d.update(more=1),
    "the checksum": lambda d: d.update(checksum="sha256:0"),
    "no checksum": lambda d: d.pop("checksum"),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_changed_file_is_refused(change, document, tmp_path):
    change(document)
    (tmp_path / "c.json").write_text(json.dumps(document))
    with pytest.raises(ValueError, match=r"c\.json must match its checksum; it does not\. .*fit anew"):
        load_calibrator(tmp_path / "c.json")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_white_space_the_order_of_keys_and_a_byte_order_mark_are_free(encoding, document, tmp_path):
    path = tmp_path / "c.json"
    path.write_text(json.dumps(dict(reversed(document.items())), indent=7), encoding=encoding)
    assert load_calibrator(path).temperature_ == document["calibrator"]["fitted"]["temperature_"]


CUT = r"c\.json must be a calibrator file \(JSON\); it is not: .*Was it cut"
OTHER = r"c\.json must be a calibrator file; it holds something else\. Make one"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (lambda text: "", CUT),
        (lambda text: text[: int(0.98 * len(text))], CUT),
        (lambda text: "[" * 100_000, "must be a calibrator file"),
        (lambda text: text.replace('"probability"', "9" * 5000), r"calibrator file \(JSON\); it is not: .*digits"),
        (lambda text: "{}", OTHER),
        (lambda text: "null", OTHER),
        (lambda text: '"calibrant-calibrator"', OTHER),
        (lambda text: '{"format": "other"}', OTHER),
    ],
    ids=["empty", "cut", "deep", "digits", "object", "null", "word", "format"],
)
def test_a_file_that_holds_no_calibrator_is_refused(content, message, document, tmp_path):
    (tmp_path / "c.json").write_text(content(json.dumps(document)))
    with pytest.raises(ValueError, match=message):
        load_calibrator(tmp_path / "c.json")


@pytest.mark.parametrize(("name", "kind"), [("nothing.json", FileNotFoundError), (".", IsADirectoryError)])
def test_a_path_that_cannot_be_read_is_refused(name, kind, tmp_path):
    with pytest.raises(kind, match=r"must be a file that can be read; got .*Check the path"):
        load_calibrator(tmp_path / name)


IRP = cals.IsotonicRecursivePartitioning(max_bins=9, smoothing=0.0, softening=0.0)
BODIES = {
    "temperature": FITTED["temperature"],
    "by notion": lambda: by_notion("top-label"),
    "canonical": lambda: CanonicalBinning(Projection(5)).fit(PROB, TRUTH),
    "histogram": lambda: HistogramBinning(EqualMass(5)).fit(PROB[:, 0], TRUTH == 0),
    "NA-FIR": lambda: calibrant.NormalizedFlattenedIsotonic(smoothing=0.01).fit(PROB, TRUTH),
    "SCIR": lambda: calibrant.SortedCumulativeIsotonic(epsilon=1e-3).fit(PROB, TRUTH),
    "IRP": lambda: IRP.fit([0.1, 0.2, 0.3, 0.4], [0, 1, 0, 1]),
    "multiclass IRP": lambda: cals.MulticlassRecursivePartitioning(candidates=9).fit(PROB, TRUTH),
    "spline": lambda: calibrant.SplineCalibration().fit(PROB[:, 0], TRUTH == 0),
    "in a safe one": FITTED["safe canonical"],
}


DEEP = {"cells of": "sierpinski", "parameters": {"depth": 10**9}}
OF_DEEP_CELLS = {"partition_": DEEP, "value_": encode(np.empty(0)), "count_": encode(np.empty(0, dtype=np.int64))}
SIERPINSKI = {"method": "canonical-binning", "parameters": {}, "fitted": OF_DEEP_CELLS}
OF_ONE_SCORE = to_document(FITTED["isotonic"]())["calibrator"]
LONG = ["a" * 10**5, *map(str, range(999))]
UNFITTED = {"calibrator": {"method": "temperature", "parameters": {}}}


def at(*names):
    """Where a fitted attribute stands, or a part of it."""
    return ("calibrator", "fitted", *names)


VALUES = at("value_", "array")
IN_SAFE = at("calibrator_", "calibrator", "calibrator", "fitted", "value_", "array")
POOLED = at("pooled_", "calibrator", "fitted")
LOGS, LEFT = at("log_value_", "array"), at("left_", "array")


shorter, backwards = itemgetter(slice(None, -1)), itemgetter(slice(None, None, -1))

DAMAGES = [
    ("canonical", VALUES, lambda rows: [row[:3] for row in rows], "value_ must be numbers, .* of shape"),
    ("canonical", (*VALUES, 2), [0.5, 0.5, 0.5, 0.5], "rows of value_ must sum to one;"),
    ("in a safe one", IN_SAFE, [[0.5, 0.5]] * 5, "value_ must be numbers, .* got"),
    ("by notion", at("calibrators_"), shorter, "as many as TopLabel.. makes of 4 classes; got 3"),
    ("by notion", ("calibrator", "parameters", "unseen"), "bogus", "unseen must be one of 'pooled', 'identity'"),
    ("IRP", at("weight_", "array"), [0.0, 2.0, 1.0], "event_weight_ must be at most weight_, and that above 0"),
    ("multiclass IRP", at("staged_regions_", "array", 0), 99, "staged_regions_ and n_regions_ must be those of"),
    ("temperature", ("calibrator", "method"), "os.system", "calibrator must be one of .*'temperature'"),
    ("temperature", at(), lambda fitted: fitted | {"left_": 1.0}, "'left_' is no fitted attribute of Temp"),
    ("temperature", ("calibrator",), lambda _: SIERPINSKI, "depth must be at most 12; got 1000000000"),
    ("temperature", ("calibrator",), lambda _: OF_ONE_SCORE, "classes must be two for IsotonicCal"),
    ("in a safe one", at("calibrator_"), UNFITTED, "calibrator_ must be a fitted calibrator;"),
    ("temperature", ("classes",), [1, 0, 2, 3], r"classes must be sorted, .*; got \[1, 0, 2, 3\]"),
    ("temperature", ("classes",), [0, "1", 2, 3], "classes must be two or more numbers, booleans or w"),
    ("temperature", (), {"classes": LONG, "columns": 1000}, "classes must be words of like lengths;"),
    ("temperature", (), {"column_names": ["a", "b", "c"]}, "columns must name each of the 4 columns"),
    ("temperature", ("classes",), ["\ud800", "b", "c", "d"], r"classes must be words that UTF-8 can encode;"),
    ("not normalised", ("calibrator", "parameters", "calibrator"), "temperature", "of one score; got .*Temperature"),
]


@pytest.mark.parametrize(
    ("body", "path", "edit", "message"), DAMAGES, ids=[f"{body} {message[:60]}" for body, _, _, message in DAMAGES]
)
def test_what_no_fit_gives_is_refused_by_its_name_though_its_checksum_fits(body, path, edit, message):
    document = to_document((BODIES | FITTED)[body]())
    from_document(document)
    damaged = changed(document, path, edit) if path else resigned(document | edit)
    with pytest.raises(ValueError, match=f"the document must describe a calibrator fully; got .*{message}.*Fit anew"):
        from_document(damaged)


@pytest.mark.parametrize(
    ("columns", "error"),
    [(["one"], ValueError), (5, TypeError), ("ab", TypeError), ({"a", "b"}, TypeError)],
    ids=["too few", "number", "text", "set"],
)
def test_names_of_columns_that_do_not_fit_are_refused(columns, error, tmp_path):
    fitted = TemperatureScaling().fit(PROB[:, :2] / PROB[:, :2].sum(axis=1, keepdims=True), TRUTH == 1)
    with pytest.raises(error, match=r"columns must .*; got .*\. Pass"):
        save_calibrator(fitted, tmp_path / "c.json", columns=columns)


def test_a_loaded_calibrator_can_be_fitted_again_with_the_labels_it_was_given():
    labels, words = ["d", "c", "b", "ä"], np.array(list("dcbä"))[TRUTH]
    loaded = from_document(to_document(TemperatureScaling(labels=labels).fit(PROB, words)))
    assert loaded.fit(PROB, words).classes_.tolist() == labels


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


# What a file may say, and what it may cost


@pytest.mark.parametrize("depth", [70, 900])
def test_calibrators_inside_calibrators_have_an_end(depth, document):
    held = document["calibrator"]
    for _ in range(depth):
        held = {"method": "safe", "parameters": {"calibrator": {"calibrator": held}}}
    with pytest.raises(ValueError, match="the document must have at most 64 levels; it has more"):
        from_document(document | {"calibrator": held})


def many_classes(k):
    """Calibrators of many classes, as small as files make them."""
    line = {"method": "by-notion", "parameters": {"calibrator": "platt", "unseen": "identity"}}
    unserved = {"notion_": {"notion": "top-label", "parameters": {}}, "calibrators_": [None] * k, "pooled_": None}
    steps, ranks = encode(np.arange(k // 4) / k), encode(np.ones(k // 4, dtype=np.int64))
    one_number = {"temperature_": 1.5, "gradient_": 0.0, "n_iter_": 3}
    of_steps = {"epsilon_": 0.1, "score_": steps, "value_": steps, "rank_": ranks}
    return {
        "temperature": {"method": "temperature", "parameters": {}, "fitted": one_number},
        "top-label": line | {"fitted": unserved},
        "scir": {"method": "scir", "parameters": {}, "fitted": of_steps},
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


def test_classes_of_bytes_are_not_saved_and_decoding_cures(tmp_path):
    labels = np.array([b"a", b"b", b"c", b"d"])
    with pytest.raises(TypeError, match=r"got bytes, .*Fit with words: np\.char\.decode\(labels\)"):
        save_calibrator(TemperatureScaling(labels=labels).fit(PROB, labels[TRUTH]), tmp_path / "c.json")
    words = np.char.decode(labels)
    save_calibrator(TemperatureScaling(labels=words).fit(PROB, words[TRUTH]), tmp_path / "c.json")
    assert load_calibrator(tmp_path / "c.json").classes_.tolist() == ["a", "b", "c", "d"]
