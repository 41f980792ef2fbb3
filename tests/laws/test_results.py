"""Every result gives a data frame, a short representation, read-only arrays and, where it declares one, a picture."""

import importlib
import inspect
import pkgutil
import re
from functools import cache

import numpy as np
import numpydoc.validate
import pytest
from sklearn.naive_bayes import GaussianNB

import calibrant as cb
from calibrant._core.lazy import homes
from calibrant._core.result import DrawnResult, Record, Result, drawing

RNG = np.random.default_rng(0)
P = RNG.dirichlet(np.ones(3), 240)
Y = (P.cumsum(axis=1) < RNG.random((240, 1))).sum(axis=1)
B = RNG.random(240)
E = (RNG.random(240) < B).astype(int)
COSTS = [[0, 1, 5], [2, 0, 1], [1, 1, 0]]

EXAMPLES = {
    "Advice": lambda: cb.advise(E, B, n_folds=2),
    "Assessment": lambda: cb.assess(Y, P, metrics=["ece", "nll"], n_resamples=9),
    "Verdict": lambda: cb.assess(Y, P, metrics=["ece", "nll"], n_resamples=9).verdict,
    "BinTestCurve": lambda: cb.curves.bin_test_curve(Y, P, notion="class-wise"),
    "BinningGuarantee": lambda: cb.calibrators.binning_guarantee(1000, 50, n_classes=3),
    "BinningQuality": lambda: cb.curves.binning_quality(Y, P, notion="top-label"),
    "CalibrationMap": lambda: cb.curves.calibration_map(cb.ByNotion(cb.PlattScaling()).fit(P, Y), Y, P, resolution=5),
    "CanonicalGuarantee": lambda: cb.calibrators.canonical_binning_guarantee(100, 9, n_classes=3),
    "ClassErrors": lambda: cb.curves.class_errors(Y, P, n_resamples=9),
    "Comparison": lambda: cb.compare(E, {"a": B, "b": B**2}, calibrators=["platt"], n_resamples=9),
    "ConfusionTable": lambda: cb.decisions.confusion_table(Y, P, cost_matrix=COSTS),
    "CorpCurve": lambda: cb.corp_curve(Y, P, notion="class-wise", n_resamples=9),
    "Decisions": lambda: cb.decide(P, COSTS),
    "Decomposition": lambda: cb.metrics.murphy_decomposition(E, B),
    "EquivalenceResult": lambda: cb.equivalence_test(E, B, bound=0.1, n_resamples=9),
    "EvidenceParts": lambda: cb.calibrators.EvidenceScaling(pool="fast").fit(P, Y).parts(),
    "ExpectedCostCurve": lambda: cb.decisions.expected_cost_curve(E, {"a": B, "b": B**2}, at=[0.1, 0.5, 0.8]),
    "HosmerLemeshowResult": lambda: cb.hosmer_lemeshow_test(E, B),
    "KnownTruth": lambda: cb.datasets.make_softmax_forecast(20, 3, rng=0),
    "MonitorTable": lambda: cb.Monitor(window=60).update(E, B).table(n_resamples=9),
    "MultipleTests": lambda: cb.significance.by_class(cb.spiegelhalter_test, Y, P),
    "DecisionCurve": lambda: cb.decision_curve(E, {"a": B, "b": B**2}, threshold=[0.1, 0.5], n_resamples=9),
    "PairedDifference": lambda: cb.significance.paired_difference(E, B, B**2, n_resamples=9),
    "OptimismCorrected": lambda: cb.assessment.optimism_corrected(GaussianNB(), B[:, None], E, n_resamples=3),
    "MeanRanks": lambda: cb.assessment.mean_ranks({"a": [1, 2, 3], "b": [2, 3, 4]}),
    "PairedResult": lambda: cb.paired_test(E, B, B**2, n_resamples=9),
    "ReliabilityCurve": lambda: cb.reliability_curve(Y, P, notion="top-label", binning=5),
    "RiskCoverageCurve": lambda: cb.decisions.risk_coverage_curve(Y, {"a": P, "b": P[:, ::-1]}, n_resamples=9),
    "RiskThreshold": lambda: cb.decisions.risk_threshold(Y, P, risk=0.5),
    "RocCurve": lambda: cb.curves.roc_curve(Y, P, notion="class-wise"),
    "RocHull": lambda: cb.metrics.roc_convex_hull(E, B),
    "RocSurface": lambda: cb.curves.roc_surface(Y, P, n_thresholds=20),
    "RowsNeeded": lambda: cb.rows_for(guarantee=0.1, n_classes=10),
    "SimplexMap": lambda: cb.curves.simplex_map(np.sqrt, resolution=5),
    "SimplexPartition": lambda: cb.curves.simplex_partition(cb.calibrators.CanonicalBinning().fit(P, Y), resolution=20),
    "SimplexPoints": lambda: cb.curves.simplex_points(Y, P, cb.TemperatureScaling().fit(P, Y)),
    "SmoothReliabilityCurve": lambda: cb.smooth_reliability_curve(Y, P, notion="class-wise"),
    "TestResult": lambda: cb.spiegelhalter_test(E, B),
    "TopLabelCurve": lambda: cb.curves.top_label_curve(Y, P),
    "ValidityCurve": lambda: cb.curves.validity_curve(Y, P, binning=9),
}


def classes(of):
    """All concrete classes of results in the package."""
    for module in pkgutil.walk_packages(cb.__path__, "calibrant."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    found, waiting = set(), [of]
    while waiting:
        new = {c for c in waiting.pop().__subclasses__() if c not in found}
        waiting += new
        found |= {c for c in new if c.__module__.startswith("calibrant.") and c not in (Result, DrawnResult)}
    return sorted((c for c in found if not inspect.isabstract(c)), key=lambda c: c.__qualname__)


@cache
def example(name):
    return EXAMPLES[name]()


RESULTS = classes(Result)
DRAWN = [c for c in RESULTS if hasattr(c, "plot")]


def names(found):
    return [c.__name__ for c in found]


def test_every_result_has_an_example():
    assert set(names(RESULTS)) <= set(EXAMPLES)


@pytest.mark.parametrize("name", names(RESULTS))
def test_a_data_frame_has_the_columns_that_its_docstring_names(name):
    result = example(name)
    docstring = " ".join(inspect.getdoc(type(result).to_frame).split()).removesuffix(".")
    documented = docstring.partition("Columns ")[2].partition(", of which")[0].split(", ")
    found = list(result.to_frame("polars").columns)
    assert found
    if "_table" in vars(type(result)):  # else the class speaks for itself
        assert {re.sub(r"_\d$", "", column) for column in found} <= {re.sub(r"_0 \.+$", "", c) for c in documented}


@pytest.mark.parametrize("name", names(RESULTS))
def test_a_representation_is_short_and_names_the_class(name):
    shown = repr(example(name))
    assert shown.startswith(f"{'TestResult' if name == 'HosmerLemeshowResult' else name}(")
    assert shown.endswith(")")
    assert "\n" not in shown
    assert len(shown) < 250


def arrays(of):
    """All arrays of a result and of its parts."""
    for value in vars(of).values():
        for part in value if isinstance(value, tuple) else (value,):
            if isinstance(part, np.ndarray):
                yield part
            elif isinstance(part, Record):
                yield from arrays(part)


@pytest.mark.parametrize("name", names(RESULTS))
def test_arrays_of_a_result_and_of_its_parts_cannot_be_written_to(name):
    assert not any(array.flags.writeable for array in arrays(example(name)))


@pytest.mark.parametrize("name", names(RESULTS))
def test_a_result_can_be_kept_in_a_set(name):
    """Its arrays have no hash."""
    assert {example(name)} == {example(name)}


@pytest.mark.usefixtures("unsettled")
@pytest.mark.parametrize("drawn", DRAWN, ids=lambda c: c.__name__)
def test_a_picture_is_drawn(drawn):
    pytest.importorskip("matplotlib").use("agg")
    assert np.size(example(drawn.__name__).plot())


@pytest.mark.parametrize("drawn", DRAWN, ids=lambda c: c.__name__)
def test_the_docstring_of_a_plot_says_which_options_there_are(drawn):
    """And where to read on, where the function that draws is public: it then draws several results at once."""
    picture, docstring = drawn._picture, inspect.getdoc(drawn.plot)
    options = inspect.signature(drawing(picture.by)).parameters.items()
    parameters = [name for name, one in options if one.kind is one.KEYWORD_ONLY]
    said = re.findall(r"``(\w+)(?:=[^`]*)?``", docstring)
    assert said == [name for name in parameters if name != picture.axes]
    public = re.findall(r"`(plot_\w+)`", docstring)
    assert public == [name for name in [picture.by.rpartition(".")[2]] if said and name in homes()]


@pytest.mark.parametrize(
    "name", [f"{c.__module__}.{c.__name__}.{m}" for c in RESULTS for m in ("to_frame", "plot") if m in vars(c)]
)
def test_methods_made_from_declarations_are_documented_as_numpydoc_asks(name):
    accepted = {"GL01", "GL08", "SA01", "SA04", "ES01", "EX01", "RT03", "YD01"}
    assert [error for error in numpydoc.validate.validate(name)["errors"] if error[0] not in accepted] == []


@pytest.mark.parametrize("name", ["BinningQuality", "Decisions"])
def test_a_result_without_a_picture_has_no_plot(name):
    assert not hasattr(example(name), "plot")
