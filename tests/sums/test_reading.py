"""Rows read in batches or in chunks: what is computed of them is what the same rows give in memory, or within stated limits."""

import pickle
import tracemalloc
from itertools import chain, pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import columns, uniform_rows

import calibrant as cb
from calibrant import EqualMass, EqualWidth, assess, calibration_error, metrics
from calibrant._core.border import as_problem
from calibrant._core.rows import Approximate, Unit
from calibrant.binning import BoundedIsotonic, FineGrid, Isotonic, PointsPerBin
from calibrant.binning import bins as fine_grid
from calibrant.calibrators.base import one_score
from calibrant.curves import class_errors, corp_curve
from calibrant.decisions import decision_curve
from calibrant.interop.arrow_batches import Batches, Block, Piece
from calibrant.metrics import kernel_calibration_error
from calibrant.metrics.decompositions import accuracy, hits, squared_losses
from calibrant.metrics.roc import area_under_roc
from calibrant.notions import Binary, as_notion
from calibrant.sums import Plan, reading, scan
from calibrant.sums.reading import UnreadPart, UnreadSimplex
from calibrant.sums.sums import SummedWeights, recut, rounded

ROUNDING = 1e-12


@pytest.fixture(scope="module", autouse=True)
def coarse():
    """Some thousand cells, so wide that limits are wide as well; as many as default take longer than what is tested."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fine_grid, "MOST_CELLS", 1 << 12)
        yield


def assert_close(ours, theirs):
    """Whether sums are of the same bins and strata, but for rounding."""
    np.testing.assert_allclose(ours.scores, theirs.scores, rtol=1e-12)
    for one, other in zip(chain(*ours.cells), chain(*theirs.cells), strict=True):
        assert (one.name, one.share) == (other.name, pytest.approx(other.share, rel=1e-12))
        np.testing.assert_array_equal(one.bins.count, other.bins.count)
        np.testing.assert_array_equal(one.bins.edges, other.bins.edges)
        for name in ("weight", "score_sum", "outcome_sum"):
            np.testing.assert_allclose(getattr(one.bins, name), getattr(other.bins, name), rtol=1e-12, atol=1e-12)
        if theirs.plan.noise:
            np.testing.assert_allclose(one.strata.sums, other.strata.sums, rtol=1e-12)


RNG = np.random.default_rng(3)
N = 6000
PROB = RNG.dirichlet(np.ones(3), N).astype(np.float32)
LABEL = RNG.integers(0, 3, N)
SCORE, EVENT = PROB[:, 0], LABEL == 0
PLAN = Plan(
    tuple((as_notion(word), EqualWidth(9)) for word in ("class-wise", "confidence")),
    (("hits", hits), ("brier", squared_losses)),
    noise=True,
)


def cut(at, *arrays):
    """Cut arrays into batches at these rows."""
    ends = [0, *sorted(at), len(arrays[0])]
    return [tuple(array[a:b] for array in arrays) for a, b in pairwise(ends)]


@settings(max_examples=15)
@given(at=st.lists(st.integers(0, N), max_size=5))
def test_any_batches_leave_the_sums_of_all_rows(at):
    ours, theirs = scan(Batches(cut(at, LABEL, PROB)), PLAN), scan(as_problem(LABEL, PROB), PLAN)
    assert ours.rows == theirs.rows
    assert_close(ours, theirs)
    np.testing.assert_array_equal(ours.kept.number, theirs.kept.number)
    np.testing.assert_array_equal(ours.kept.problem.prob, theirs.kept.problem.prob)


def test_what_needs_all_rows_says_how_to_sample_them():
    predictions = Batches(cut([5000], LABEL, PROB))
    with pytest.raises(ValueError, match=r"needs all rows.*sample\(100_000\)"):
        kernel_calibration_error(predictions, None)
    some = predictions.sample(50)
    assert len(some["y_true"]) == 50
    assert some["y_prob"].dtype == np.float32
    np.testing.assert_array_equal(some["y_prob"], Batches(cut([12, 2000], LABEL, PROB)).sample(50)["y_prob"])
    assert kernel_calibration_error(**some) > 0.0


def test_what_is_said_twice_is_refused():
    with pytest.raises(TypeError, match=r"y_prob must be left out beside predictions"):
        calibration_error(Batches([(LABEL, PROB)]), PROB)
    with pytest.raises(TypeError, match=r"input, rows must be left out beside predictions"):
        calibration_error(Batches([(LABEL, PROB)]), input="logit", rows="percent")
    assert calibration_error(Batches([(LABEL, PROB)]), input="probability") == calibration_error(LABEL, PROB)
    with pytest.raises(TypeError, match=r"y_prob must be given beside y_true"):
        calibration_error(LABEL)
    with pytest.raises(ValueError, match=r"at least one row"):
        calibration_error(Batches([]))


@pytest.mark.parametrize("kind", ["logits", "weights", "one column of logits"])
def test_a_sample_says_all_that_has_to_be_said_of_it(kind):
    logit, weight = np.log(PROB.astype(float)), RNG.integers(1, 4, N)
    words = np.array(["cat", "dog", "eel"])[LABEL]
    if kind == "logits":
        read, arguments = Batches([(words, logit)], labels=["cat", "dog", "eel"], input="logit"), (words, logit)
    elif kind == "weights":
        read, arguments = Batches([(EVENT, SCORE, weight)]), (EVENT, SCORE)
    else:
        read, arguments = Batches([(EVENT, logit[:, 0])], input="logit"), (EVENT, logit[:, 0])
    some, every = read.sample(500), read.sample(10 * N)
    said = {name: every[name] for name in ("labels", "input", "sample_weight") if name in every}
    assert len(some["y_true"]) == 500
    assert assess(**some, n_resamples=9).n_rows == np.sum(some.get("sample_weight", 500))
    np.testing.assert_allclose(every["y_prob"], arguments[1])
    np.testing.assert_array_equal(every["y_true"], arguments[0])
    assert calibration_error(**every) == calibration_error(*arguments, **said)


# Chunk by chunk


@pytest.mark.parametrize(
    "weight", [None, RNG.integers(0, 4, 1000), RNG.random(1000)], ids=["none", "counts", "fractions"]
)
@pytest.mark.parametrize("parallel", [False, True])
def test_sums_of_chunks_are_those_of_all_rows(weight, parallel, monkeypatch):
    words, cuts = ("class-wise", "confidence", "top-label", "flattened"), (EqualWidth(7), EqualMass(5), EqualWidth(15))
    plan = Plan(tuple((as_notion(word), cut) for word in words for cut in cuts), PLAN.scores)
    problem = as_problem(LABEL[:1000], PROB[:1000], sample_weight=weight)
    whole = scan(problem, plan)
    for module in ("binning.bins", "sums.reading"):
        monkeypatch.setattr(f"calibrant.{module}.CHUNK", 90)
    if parallel:
        monkeypatch.setattr(reading, "PARALLEL_FROM", 1)
        monkeypatch.setattr(reading, "n_processors", lambda: 3)
    assert_close(scan(problem, plan), whole)


N_ROWS, N_CLASSES = 150_000, 24
TABLE = np.full((N_ROWS, N_CLASSES), 1 / (2 * N_CLASSES - 2), dtype=np.float32)
TABLE[np.arange(N_ROWS), np.arange(N_ROWS) % N_CLASSES] = 0.5
OF_TABLE = np.arange(N_ROWS) // 3 % N_CLASSES


ERRORS = [cb.expected_calibration_error, cb.classwise_calibration_error, cb.top_label_calibration_error]


@pytest.mark.parametrize("metric", [*ERRORS, accuracy, cb.log_loss, cb.brier_score_loss, cb.measure])
def test_a_table_in_single_precision_is_not_copied(metric, monkeypatch):
    monkeypatch.setattr("calibrant.binning.bins.CHUNK", 1 << 11)
    monkeypatch.setattr("calibrant.sums.reading.CHUNK", 1 << 11)
    metric(OF_TABLE[:5000], TABLE[:5000])  # what is imported on first use does not count
    tracemalloc.start()
    metric(OF_TABLE, TABLE)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.2 * TABLE.nbytes


# Bins that follow the scores


BINNINGS = [EqualMass(4), Isotonic(), BoundedIsotonic(0.1, 0.5), PointsPerBin(3)]


def as_read(*rows, n_batches=2, **data):
    """Return rows as they are read in batches, however few they are."""
    return UnreadSimplex(Batches([rows], batch_rows=-(-len(rows[0]) // n_batches), **data))


@pytest.mark.first(3)
@pytest.mark.parametrize("binning", BINNINGS, ids=lambda binning: type(binning).__name__)
@settings(max_examples=8)
@given(data=columns(max_rows=40), n_batches=st.integers(1, 4))
def test_where_a_cell_holds_one_score_bins_hold_the_same_rows(binning, data, n_batches):
    (label, score, weight), grid = data, FineGrid.for_problems(1)
    score = grid.edges(None)[grid.index(score) + 1]  # an edge, of each cell the one score
    plan = Plan.of_cells([(Binary(), binning)])
    ((ours,),) = scan(as_read(label, score, weight, n_batches=n_batches, labels=[0, 1]), plan).cells
    ((rows,),) = scan(as_problem(label, score, sample_weight=weight, labels=[0, 1]), plan).cells
    held, ours_held = rows.bins.count > 0, ours.bins.count > 0
    assert ours.bins.weight[ours_held].tolist() == rows.bins.weight[held].tolist()
    assert ours.bins.outcome_sum[ours_held].tolist() == rows.bins.outcome_sum[held].tolist()
    np.testing.assert_allclose(ours.bins.score_sum[ours_held], rows.bins.score_sum[held], rtol=1e-12)


@given(columns(max_rows=40))
def test_new_rows_of_a_cell_fall_into_the_bin_of_the_old_ones(data):
    _, score, weight = data
    plan = Plan.of_cells([(Binary(), EqualMass(4))])
    ((ours,),) = scan(as_read(*data, labels=[0, 1]), plan).cells
    again = np.bincount(ours.bins.index(score), weight, len(ours.bins))
    np.testing.assert_allclose(again, ours.bins.weight, rtol=1e-12)


def test_strata_of_bins_are_those_of_their_cells():
    """Where a bin reaches over 1/2, cells of one half are turned over."""
    score, plan = np.sqrt(SCORE.astype(float)), Plan.of_cells([(Binary(), EqualMass(3))], noise=True)
    ((ours,),) = scan(as_read(EVENT, score), plan).cells
    of_rows = type(ours.strata).of(as_problem(EVENT, score), ours.bins)
    assert ours.strata.count.tolist() == of_rows.count.tolist()
    np.testing.assert_allclose(ours.strata.sums, of_rows.sums, rtol=1e-9)


def test_tables_are_cut_class_by_class():
    batches = as_read(LABEL, PROB)
    plan = Plan.of_cells([(as_notion("class-wise"), EqualMass(5)), (as_notion("confidence"), EqualWidth(5))])
    ours, rows = scan(batches, plan), scan(as_problem(LABEL, PROB), plan)
    for mine, theirs in zip(ours.cells[0], rows.cells[0], strict=True):
        assert (mine.name, mine.share) == (theirs.name, pytest.approx(theirs.share))
        np.testing.assert_allclose(mine.bins.edges, theirs.bins.edges, atol=1 / 32)
    assert ours.cells[1][0].bins.count.tolist() == rows.cells[1][0].bins.count.tolist()
    assert recut(ours, Plan(), None).cells == ()


def test_bins_of_equal_mass_are_empty_of_a_class_that_is_never_predicted():
    plan = Plan.of_cells([(as_notion("top-label"), EqualMass(2))])
    (cells,) = scan(as_read([0, 1], np.array([[0.6, 0.3, 0.1], [0.2, 0.7, 0.1]])), plan).cells
    assert [one.bins.weight.sum() for one in cells] == [1.0, 1.0, 0.0]


# Problems of a notion


@pytest.mark.parametrize("word", ["top-label", "confidence"])
def test_a_problem_of_a_notion_has_the_sums_of_its_own_rows(word):
    whole, notion = as_read(LABEL, PROB), as_notion(word)
    for index, rows in enumerate(notion.split(as_problem(LABEL, PROB))):
        part = UnreadPart(whole, notion, index, lambda batch, index=index: list(notion.split(batch))[index])
        assert (part.name, part.size, part.weights.total, part.logit) == (rows.name, rows.size, rows.size, None)
        (cells,) = part.summed_parts(Binary())
        assert cells.weight.sum() == rows.size
        assert cells.weight @ cells.outcome == rows.outcome.sum()


def test_logits_of_rows_in_batches_are_not_there():
    logit = np.log(SCORE) - np.log1p(-SCORE)
    part = UnreadPart(as_read(EVENT, logit, input="logit"), Binary(), 0, one_score)
    with pytest.raises(ValueError, match=r"needs all rows.*sample\(100_000\)"):
        _ = part.logit


# Fine cells


def test_cells_without_both_outcomes_leave_nothing_open():
    problem = as_problem(np.zeros(3, int), np.array([0.3, 0.3001, 0.9]), labels=[0, 1])
    cells = rounded(*scan(problem, Plan.of_cells([(Binary(), FineGrid(4))])).cells[0])
    assert (cells.cells.rise == 0.0).all()
    np.testing.assert_allclose(cells.cells.fall, [0.6001, 0.9], rtol=1e-12)


@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_decimals_and_edges_stay_on_their_side(kind):
    label = np.arange(135) % 3 // 2
    tenths, parts = (np.repeat(np.arange(n) / n, 135 // n + 1)[:135].astype(kind) for n in (10, 15))
    figures = (
        lambda *of, **data: decision_curve(*of, **data).panels[0].net_benefit,
        lambda *of, **data: class_errors(*of, n_resamples=0, **data).count,
        lambda *of, **data: corp_curve(*of, band=None, **data).panels[0].histogram.count,
    )
    for weight, figure in product((None, 0.1 + label / 3), figures):
        read, rows = figure(as_read(label, tenths, weight)), figure(label, tenths, sample_weight=weight)
        np.testing.assert_allclose(read, rows, rtol=1e-12)
    read, rows = (class_errors(*of, n_resamples=0).value for of in ((as_read(label, parts),), (label, parts)))
    np.testing.assert_allclose(read, rows, rtol=1e-12)


def test_weights_of_cells_are_rows_only_where_each_is_one():
    unit = Unit(are_counts=True, rows_per_weight=1.0)
    assert [SummedWeights(np.array(own), of_whole=unit).are_rows for own in ([1.0, 1.0], [2.0, 1.0])] == [True, False]
    with pytest.raises(ValueError, match=r"got fractions, of which cells know the sums alone\. Take a sample"):
        corp_curve(as_read([0, 1], [0.2, 0.7], [0.5, 0.25]))


# Metrics that need all scores


METRICS = {
    "auc": area_under_roc,
    "hull": metrics.area_under_roc_hull_score,
    "ks": metrics.kolmogorov_smirnov_error,
    "kuiper": metrics.kuiper_error,
    "smooth": cb.smooth_calibration_error,
    "mcb": metrics.miscalibration_loss,
    "mcb-log": lambda *rows, **data: metrics.corp_decomposition(*rows, score="log", **data)["miscalibration"],
    "dsc": metrics.discrimination_score,
    "unc": metrics.uncertainty_loss,
    "score": lambda *rows, **data: metrics.corp_decomposition(*rows, **data).total,
    "ace": metrics.adaptive_calibration_error,
}


@pytest.mark.filterwarnings("ignore::calibrant.exceptions.CalibrationWarning")
@pytest.mark.first(6)
@pytest.mark.parametrize("name", METRICS)
@settings(max_examples=15)
@given(
    data=columns(max_rows=40),
    squeeze=st.floats(1e-9, 1.0),
    n_batches=st.integers(1, 3),
    cells=st.sampled_from([6, 9, 12]),
)
def test_the_figure_of_the_rows_lies_within_the_limits(name, data, squeeze, n_batches, cells):
    label, score, weight = data
    score, metric = score * squeeze, METRICS[name]
    exact = metric(label, score, sample_weight=weight, labels=[0, 1])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fine_grid, "MOST_CELLS", 1 << cells)
        found = metric(as_read(label, score, weight, n_batches=n_batches, labels=[0, 1]), None)
    lower, upper = getattr(found, "lower", found), getattr(found, "upper", found)
    if np.isnan(exact):
        assert np.isnan(found)
    else:
        assert lower - ROUNDING <= exact <= upper + ROUNDING


def test_of_classes_the_limits_are_those_of_the_mean(monkeypatch):
    monkeypatch.setattr(fine_grid, "MOST_CELLS", 1 << 18)
    for metric in (area_under_roc, metrics.kolmogorov_smirnov_error, metrics.adaptive_calibration_error):
        words = {} if metric is metrics.adaptive_calibration_error else {"notion": "class-wise"}
        found, exact = metric(as_read(LABEL, PROB), None, **words), metric(LABEL, PROB, **words)
        assert found.lower <= exact <= found.upper
        assert found.error < 0.05


def test_a_figure_says_how_far_the_exact_one_may_be():
    found = metrics.kolmogorov_smirnov_error(as_read(EVENT, SCORE), None)
    assert isinstance(found, Approximate)
    assert "of rows in batches, exact to within 0.0" in repr(found)
    assert str(found) == str(float(found))
    again = pickle.loads(pickle.dumps(found))
    assert (again, again.lower, again.upper) == (found, found.lower, found.upper)
    assert "with scores rounded to cells" in repr(metrics.debiased_calibration_error(as_read(EVENT, SCORE), None))


def test_weights_that_do_not_count_rows_have_no_intervals():
    (cells,) = as_read(EVENT, SCORE, RNG.random(N)).summed_parts(Binary())
    for name in ("of_variance", "effective_rows", "importance"):
        with pytest.raises(ValueError, match=r"weights must be whole.*sample\(100_000\)"):
            getattr(cells.weights, name)


SOME, OTHERS = "ks-error ace mcb", "kuiper-error smooth-ece debiased-ece roc-auc hull-auc dsc unc"


@pytest.mark.first(1)
@pytest.mark.parametrize("names", [SOME.split(), OTHERS.split()])
def test_assess_states_intervals_and_how_near_the_figures_are(names, monkeypatch):
    monkeypatch.setattr(fine_grid, "MOST_CELLS", 1 << 18)
    label, score = uniform_rows(6000, seed=5, power=1.3)
    found = assess(as_read(label, score), None, metrics=names, n_resamples=99)
    exact = assess(label, score, metrics=names, n_resamples=99)
    for name in names:
        ours, rows = found[name], exact[name]
        width = rows.upper - rows.lower
        slack = getattr(ours.value, "error", 0.0)
        slack = slack if np.isfinite(slack) else 0.01
        assert ours.value == pytest.approx(rows.value, abs=slack + 1e-9), name
        assert ours.lower == pytest.approx(rows.lower, abs=0.25 * width + slack), name
        assert ours.upper == pytest.approx(rows.upper, abs=0.25 * width + slack), name
    assert "of rows in batches, exact to within" in str(found)


def test_rows_of_no_weight_have_numbers_too():
    truth, p, weight = np.array([0, 1, 1, 0]), np.array([0.1, 0.2, 0.3, 0.4]), np.array([0.0, 1.0, 0.0, 2.0])
    block = Block(10, (Piece(truth, (p,), weight, "here", 0),))
    assert block.numbers_of(as_problem(truth, p)) == 10
    assert block.numbers_of(as_problem(truth, p, sample_weight=weight)).tolist() == [11, 13]
