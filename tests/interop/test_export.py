"""What is exported gives what ``calibrate`` gives, run in each language that is installed."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from calibrant import ByNotion, EvidenceScaling, PlattScaling, SafeCalibrator, TemperatureScaling
from calibrant._core.graph import run
from calibrant.calibrators import CanonicalBinning, HistogramBinning, IsotonicCalibration, SortedCumulativeIsotonic
from calibrant.calibrators.base import BinaryCalibrator
from calibrant.calibrators.graphs import graph_of
from calibrant.interop.export import to_js, to_numpy, to_onnx, to_sql, to_torch
from calibrant.registry import entries
from tools.make_exports_page import LANGUAGES, AbsentError, beside, by_numpy, largest_slope, registered, rows

pytestmark = pytest.mark.filterwarnings(
    "ignore::calibrant.exceptions.CalibrationWarning",
    "ignore::sklearn.exceptions.ConvergenceWarning",
    "ignore:.*torch.jit:FutureWarning",
    "ignore:.*torch.jit:DeprecationWarning",
)

BOUND = {"numpy": 1e-15, "duckdb": 1e-13, "sqlite": 1e-13, "onnx": 1e-13, "torch": 1e-13, "js": 1e-13}
"""Largest difference from ``calibrate``, beside which a step that is missed is 1e-3 or more."""


def assert_same(language, calibrator, X, folder=None):
    expected = calibrator.calibrate(X)
    try:
        found, _ = LANGUAGES[language](calibrator, X, *([folder] if language == "js" else []))
    except AbsentError as absent:
        pytest.skip(str(absent))
    scale = np.maximum(1.0, largest_slope(calibrator))
    np.testing.assert_allclose(np.reshape(found, expected.shape), expected, rtol=0, atol=scale * BOUND[language])


@pytest.mark.parametrize("word", sorted(entries("calibrator")))
@pytest.mark.parametrize(("n_classes", "input"), [(1, "probability"), (2, "logit"), (4, "probability")])
def test_every_registered_calibrator_is_the_same_in_numpy_source(word, n_classes, input):
    label, X = rows(n_classes, input)
    calibrator = registered(word, n_classes, input).fit(X, label)
    assert_same("numpy", calibrator, beside(calibrator, X))


@pytest.mark.deep
@pytest.mark.parametrize("language", ["duckdb", "sqlite", "onnx", "torch", "js"])
@pytest.mark.parametrize(("n_classes", "input"), [(1, "probability"), (1, "logit"), (2, "probability"), (4, "logit")])
@pytest.mark.parametrize("word", sorted(entries("calibrator")))
def test_every_registered_calibrator_is_the_same_in_every_language(word, n_classes, input, language, tmp_path):
    label, X = rows(n_classes, input, seed=1)
    calibrator = registered(word, n_classes, input).fit(X, label)
    assert_same(language, calibrator, beside(calibrator, X), tmp_path)


@pytest.mark.parametrize("language", ["duckdb", "sqlite", "onnx", "torch", "js"])
@pytest.mark.parametrize(
    ("calibrator", "n_classes"),
    [
        (IsotonicCalibration(), 1),
        (TemperatureScaling(), 4),
        (EvidenceScaling(), 2),
        (ByNotion("histogram-binning", "confidence"), 4),
    ],
    ids=["isotonic", "temperature", "evidence scaling of two classes", "confidence"],
)
def test_some_calibrators_are_the_same_in_every_language(calibrator, n_classes, language, tmp_path):
    label, X = rows(n_classes, "probability", n=120)
    calibrator.fit(X, label)
    assert_same(language, calibrator, beside(calibrator, X), tmp_path)


NOTIONS = ["class-wise", "confidence", "top-label", "top-2-label", "top-3-confidence", "flattened", "shared-class-wise"]


@pytest.mark.parametrize("normalize", [True, False])
@pytest.mark.parametrize("notion", [*NOTIONS, "one-vs-rest", "thresholded-class-wise"])
@pytest.mark.parametrize("input", ["probability", "logit"])
def test_every_notion_is_put_together_again(notion, normalize, input):
    label, X = rows(4, input)
    for word in ("isotonic", "platt"):
        assert_same("numpy", ByNotion(word, notion, normalize=normalize, input=input).fit(X, label), X)


@pytest.mark.parametrize("binning", ["grid", "projection", "recursive-split", "sierpinski-3", "unique"])
def test_every_partition_of_the_simplex_is_printed(binning):
    label, X = rows(3, "probability")
    calibrator = CanonicalBinning(binning).fit(X[:150], label[:150])
    assert_same("numpy", calibrator, X)  # some rows are in cells that no row was fitted in


@pytest.mark.parametrize("keep", [None, "argmax", "order"])
@pytest.mark.parametrize(("n_classes", "input"), [(2, "probability"), (2, "logit"), (4, "logit")])
def test_evidence_scaling_is_printed_in_all_its_forms(keep, n_classes, input):
    label, X = rows(n_classes, input)
    assert_same("numpy", EvidenceScaling(keep=keep, input=input).fit(X, label), X)


@pytest.mark.parametrize("rise", ["last", "spread"])
@pytest.mark.parametrize("ties", ["share", "column"])
def test_scir_is_printed_in_all_its_forms(rise, ties):
    label, X = rows(4, "probability")
    calibrator = SortedCumulativeIsotonic(rise=rise, ties=ties).fit(X, label)
    assert_same("numpy", calibrator, np.vstack([X, np.full((1, 4), 0.25), np.eye(4)]))


def test_a_safe_calibrator_is_printed_whether_it_trusts_its_map_or_not():
    label, X = rows(3, "probability")
    for truth in (label, np.random.default_rng(0).permutation(label)):
        assert_same("numpy", SafeCalibrator(TemperatureScaling()).fit(X, truth), X)


def test_a_graph_that_numpy_runs_is_what_its_source_gives_to_the_bit():
    label, X = rows(4, "logit")
    calibrator = EvidenceScaling(input="logit").fit(X, label)
    np.testing.assert_array_equal(by_numpy(calibrator, X)[0], run(graph_of(calibrator), X))


def test_a_row_with_nan_becomes_nan_and_no_other_does():
    label, X = rows(1, "probability")
    calibrator = HistogramBinning(5).fit(X, label)
    found, _ = by_numpy(calibrator, np.append(X, np.nan))
    assert np.isnan(found).tolist() == [False] * len(X) + [True]


def test_null_becomes_null_in_a_query():
    duckdb = pytest.importorskip("duckdb")
    label, X = rows(1, "probability")
    query = to_sql(IsotonicCalibration().fit(X, label), table="(SELECT NULL AS y_prob)")
    assert duckdb.sql(query).fetchall() == [(None,)]


def test_a_query_of_many_classes_is_refused_with_the_way_that_works():
    label, X = rows(60, "logit", n=300)
    calibrator = TemperatureScaling(input="logit").fit(X, label)
    with pytest.raises(ValueError, match=r"at most 50 classes.*60.*to_onnx"):
        to_sql(calibrator)


def test_columns_of_a_query_are_named_as_those_that_it_reads():
    label, X = rows(2, "probability")
    query = to_sql(PlattScaling().fit(X, label), columns=['a "b"', "c"], keep=["id"])
    assert '"calibrated_a ""b"""' in query
    assert 'SELECT "id", ' in query
    with pytest.raises(ValueError, match=r"columns must be 2; got 1"):
        to_sql(PlattScaling().fit(X, label), columns=["p"])


def test_a_calibrator_of_somebody_else_is_refused():
    class Half(BinaryCalibrator):
        def _fit(self, problem):
            self.half_ = 0.5

        def _apply(self, score):
            return score * self.half_

    label, X = rows(1, "probability")
    with pytest.raises(TypeError, match=r"one of this library to be exported; got Half\. Register"):
        to_numpy(Half().fit(X, label))


WRONG = [
    (lambda c: to_numpy(3), TypeError, "calibrator must be a fitted calibrator; got 3"),
    (lambda c: to_js(PlattScaling()), NotFittedError, "not fitted yet"),
    (lambda c: to_sql(c, keep="id"), TypeError, "keep must be a list of names; got the string 'id'"),
    (lambda c: to_sql(c, columns=[3]), TypeError, "each of columns must be a name; got 3"),
    (lambda c: to_sql(c, table=None), TypeError, "table must be the name of a table; got None"),
    (lambda c: to_sql(c, dialect="postgers"), ValueError, "Did you mean 'postgres'"),
    (lambda c: to_onnx(c, dtype="half"), ValueError, "dtype must be one of 'double', 'float'; got 'half'"),
]


@pytest.mark.parametrize(("call", "error", "words"), WRONG, ids=[words for *_, words in WRONG])
def test_what_makes_no_sense_is_refused(call, error, words):
    pytest.importorskip("sqlglot", reason="sqlglot is not installed")
    pytest.importorskip("onnx", reason="onnx is not installed")
    label, X = rows(1, "probability")
    with pytest.raises(error, match=words):
        call(IsotonicCalibration().fit(X, label))


def test_a_class_whose_name_has_lines_ends_no_comment():
    label, X = rows(2, "probability")
    names = np.array(['a"""\nraise SystemExit', "b\nDROP TABLE"])
    calibrator = PlattScaling(labels=names).fit(X, names[label])
    np.testing.assert_allclose(by_numpy(calibrator, X)[0], calibrator.calibrate(X), rtol=0, atol=1e-15)
    query = to_sql(calibrator, columns=["p", "q"])
    assert sum(not line.startswith("--") for line in query.splitlines()[:2]) == 0
    assert "DROP" not in "".join(query.splitlines()[2:])


def test_source_needs_numpy_alone(tmp_path):
    label, X = rows(1, "probability")
    calibrator = IsotonicCalibration().fit(X, label)
    (tmp_path / "exported.py").write_text(to_numpy(calibrator), encoding="utf-8")
    asked = "import sys, exported; print(exported.calibrate([.25]).tolist(), 'scipy' in sys.modules, 'sklearn' in sys.modules)"
    said = subprocess.run(
        [sys.executable, "-c", asked], cwd=tmp_path, capture_output=True, text=True, check=True
    ).stdout
    assert said.split() == [f"[{calibrator.calibrate([0.25])[0]}]", "False", "False"]


def test_single_precision_of_onnx_rounds_what_comes_in_and_out_alone():
    pytest.importorskip("onnx", reason="onnx is not installed")
    session = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed").InferenceSession
    label, X = rows(1, "probability")
    calibrator = IsotonicCalibration().fit(X, label)
    model = session(to_onnx(calibrator, dtype="float").SerializeToString(), providers=["CPUExecutionProvider"])
    X = X.astype(np.float32)
    found = model.run(None, {"x": X[:, None]})[0][:, 0]
    np.testing.assert_array_equal(found, calibrator.calibrate(X.astype(np.float64)).astype(np.float32))


def test_a_module_of_torch_has_the_gradient_of_the_map():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    label, X = rows(4, "logit")
    module = to_torch(TemperatureScaling(input="logit").fit(X, label))
    assert torch.autograd.gradcheck(module, torch.tensor(X[:5], requires_grad=True))
