"""Which calibrator to fit: the rule, its figures, and that following it does no harm."""

import numpy as np
import pytest
from scipy.special import softmax
from strategies import one_event

from calibrant import PlattScaling, StructuredMatrixScaling, TemperatureScaling, advise, load_digits_forecast, log_loss
from calibrant._core.border import as_problem
from calibrant._core.rows import Weights
from calibrant.assessment import advice as module
from calibrant.assessment.compared_rows import IDENTITY
from calibrant.calibrators import classifier
from calibrant.datasets import make_softmax_forecast
from calibrant.exceptions import CalibrationWarning
from calibrant.significance import paired_difference


def many(rng, n, n_classes, change=lambda z: z):
    """Labels of the softmax of ``z``, and the forecast whose logits are a change of it."""
    z = 2.0 * rng.normal(size=(n, n_classes))
    label = (softmax(z, axis=1).cumsum(axis=1) < rng.random((n, 1))).sum(axis=1).clip(max=n_classes - 1)
    return label, softmax(change(z), axis=1)


CHANGES = {
    "calibrated": lambda z: z,
    "over-confident": lambda z: 2.0 * z,
    "under-confident": lambda z: 0.5 * z,
    "shifted": lambda z: z + np.arange(z.shape[1]) / z.shape[1] if z.ndim == 2 else z + 1.0,
    "waves": lambda z: z + np.sin(3.0 * z),
}


# Following it


@pytest.mark.parametrize("n_classes", [2, 3, 10, 20, 5, pytest.param(100, marks=pytest.mark.deep)])
@pytest.mark.parametrize("change", CHANGES)
def test_following_the_advice_raises_the_log_loss_of_no_forecast(change, n_classes):
    """The claim of docs/advice.md: by more than 0.002 nats and two standard errors never, with 1000 rows or more."""
    rng, n = np.random.default_rng([n_classes, *map(ord, change)]), 1000
    make = one_event if n_classes == 2 else lambda *given: many(*given[:2], n_classes, *given[2:])
    y, prob = make(rng, n + 3000, CHANGES[change])
    found = advise(y[:n], prob[:n])
    if (calibrator := found.calibrator()) is None:
        assert change not in ("over-confident", "under-confident")
        return
    after = paired_difference(y[n:], calibrator.fit(prob[:n], y[:n]).calibrate(prob[n:]), prob[n:])
    assert after.difference <= max(0.002, 2.0 * after.standard_error), found
    if change in ("over-confident", "under-confident"):
        assert after.upper < 0.0


def test_a_hundred_classes_are_never_sent_to_isotonic_calibration():
    """Rows of a hundred classes, over-confident as a network's: isotonic steps would make them worse."""
    problem = as_problem(*many(np.random.default_rng(0), 2000, 100, lambda z: 1.5 * z))
    assert module._candidates(problem, problem) == ("temperature", "svs", "sms", "evidence-scaling")


def of_a_line(seed, n, intercept, slope):
    """An event whose log-odds are a line in those of the forecast, which has an event rate below one half."""
    return one_event([seed, n], n, true=lambda z: intercept + slope * z, mean=-1.0)


@pytest.mark.first(1)
@pytest.mark.parametrize(("a", "b"), [(0.25, 0.7), (-0.5, 0.7), (0.7, 0.5), (0.25, 1.2)])
@pytest.mark.parametrize("n", [1000, 300, 5000])
def test_a_line_in_log_odds_is_sent_to_no_method_without_an_intercept(n, a, b):
    """A temperature leaves the event rate off, and a higher log loss than Platt's: what is recommended does neither."""
    above, rates = [], []
    for seed in range(3):
        y, prob = of_a_line(seed, n + 20_000, a, b)
        if (calibrator := advise(y[:n], prob[:n]).calibrator()) is None:
            continue
        assert type(calibrator) is not TemperatureScaling, seed
        after = calibrator.fit(prob[:n], y[:n]).calibrate(prob[n:])
        platt = PlattScaling().fit(prob[:n], y[:n]).calibrate(prob[n:])
        above.append(log_loss(y[n:], after) - log_loss(y[n:], platt))
        rates.append(y[n:].mean() / after.mean())
    if n >= 1000 and above:  # with fewer rows the default is shrunk toward no change
        assert np.mean(above) < 0.002
        assert 0.96 < np.mean(rates) < 1.04


# The rule


@pytest.mark.parametrize(
    ("gains", "chosen"),
    [
        ([0.0, 0.0, 0.0], 0),
        ([-0.1, -0.2, -0.1], 0),
        ([0.1, 0.1, 0.1], 3),
        ([0.1, 0.2, 0.1], 2),
        ([0.3, 0.2, 0.1], 1),
        ([0.1, 0.2, 0.0], 2),
    ],
    ids=["ties stay", "never worse", "ties go to the default", "the better", "the best", "without the default"],
)
def test_the_default_is_chosen_unless_another_is_better_or_none_is(gains, chosen):
    noise = np.tile([-0.01, 0.01], 50)
    losses = np.array([np.zeros(100), *(noise - gain for gain in gains)])
    assert module._choice(losses, Weights.one_each(100)) == chosen


@pytest.mark.parametrize(("spread", "ahead"), [(1.0, 1.0), (0.001, 1.0), (1.0, None)])
def test_what_is_taken_is_better_by_the_margin_and_than_the_default_by_what_is_of_use(spread, ahead):
    """The default, if there is one, is ahead of the forecast as it is by so much."""
    least = max(module.MARGIN * spread / np.sqrt(100), 0.0 if ahead is None else module.LEAST_GAIN)
    for gain, chosen in ((0.99 * least, 2 if ahead else 0), (1.01 * least, 1)):
        losses = [np.zeros(100), np.tile([-spread, spread], 50) - (ahead or 0.0) - gain]
        losses += [np.zeros(100) - ahead] if ahead else []
        assert module._choice(np.array(losses), Weights.one_each(100)) == chosen


def test_what_is_not_the_lowest_has_a_reason():
    def reason(*losses):
        candidates = tuple(module.Candidate(f"m{k}", x, x - losses[0], 0.01) for k, x in enumerate(losses))
        return [module._reason(one, candidates) for one in candidates]

    by_default = reason(0.7, 0.5, 0.6)[-1]
    end = " m1 has 0.5000, but to take the place of the default it must be lower by more than 2 standard errors and 0.002 nats."
    assert by_default.endswith(end)
    assert reason(0.7, 0.6, 0.5)[1].endswith(" m2 has 0.5000, but it gains less than 2 of its standard errors.")
    assert reason(0.7, 0.6, 0.5)[-1].endswith("standard error 0.0100).")


# The data


@pytest.mark.usefixtures("bare_default")
def test_the_order_of_rows_and_rows_of_weight_zero_do_not_matter():
    y, prob = one_event(0, 300, CHANGES["shifted"])
    found, order = advise(y, prob), np.random.default_rng(1).permutation(300)
    padded = advise(np.append(y, 0), np.append(prob, 0.9), sample_weight=np.append(np.ones(300), 0))
    for other in (advise(y[order], prob[order]), padded):
        assert other.recommended == found.recommended
        assert [c.log_loss for c in other.candidates] == pytest.approx([c.log_loss for c in found.candidates], rel=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_weights_of_ten_are_no_licence_to_fit_a_calibrated_forecast(seed):
    """Copies of a row in other folds would be rows that were fitted on."""
    y, prob = one_event(seed, 300)
    with pytest.warns(CalibrationWarning, match="3000 rows are copies of 300"):
        found = advise(y, prob, sample_weight=np.full(300, 10))
    assert found.recommended == IDENTITY
    assert found.candidates == advise(y, prob).candidates


def test_rows_that_coincide_are_rows():
    """A tree's leaves: equal rows are different rows of the population, and go to folds as they like."""
    y, prob = one_event(0, 600, CHANGES["over-confident"])
    found = advise(y, prob.round(1))
    assert (found.n_rows, found.n_used, found.n_folds) == (600, 600, 5)
    assert found.recommended != IDENTITY


@pytest.mark.parametrize("n", [300, 1200])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_counts_get_the_advice_of_the_repeated_rows(n_classes, n):
    """A table of scores with one decimal, as GROUP BY with COUNT(*) makes it; of an advice every figure is compared."""
    y, prob = many(np.random.default_rng([n, n_classes]), n, n_classes, CHANGES["over-confident"])
    rounded = np.maximum(prob.round(1), 0.1)
    rounded /= rounded.sum(axis=1, keepdims=True)
    _, at, count = np.unique(np.column_stack([y, rounded]), axis=0, return_index=True, return_counts=True)
    assert len(at) < n / 3
    rows, counts = advise(y, rounded), advise(y[at], rounded[at], sample_weight=count)
    assert str(rows.candidates[-1].method) == str(classifier.default_method(n_classes, n))
    assert (counts.n_rows, counts.n_used, counts.recommended) == (rows.n_rows, rows.n_used, rows.recommended)
    for a, b in zip(counts.candidates, rows.candidates, strict=True):
        assert a.method == b.method
        assert (a.log_loss, a.standard_error) == pytest.approx((b.log_loss, b.standard_error), rel=1e-6, abs=1e-9)


def test_many_counts_are_drawn_as_rows_are():
    """Of 10^12 rows as many are drawn as of any large table, each with the same chance."""
    score, count = np.repeat(np.arange(1, 10) / 10, 2), np.repeat(1e11 * np.arange(1, 10), 2)
    y = np.tile([0, 1], 9)
    weight = np.rint(np.where(y, score, 1 - score) * count)
    found = advise(y, score, sample_weight=weight)
    assert (found.n_rows, found.n_used, found.recommended) == (int(weight.sum()), module.MOST_ROWS, IDENTITY)
    assert found.candidates[0].log_loss == pytest.approx(log_loss(y, score, sample_weight=weight), rel=0.02)
    beyond = advise(y, score, sample_weight=weight * 1e77)  # more rows than whole numbers of 64 bits tell
    assert (beyond.n_used, beyond.recommended) == (module.MOST_ROWS, IDENTITY)
    assert beyond.candidates[0].log_loss == pytest.approx(found.candidates[0].log_loss, rel=0.02)


# Classes that do not occur


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("n_classes", [3, 10])
def test_rows_without_a_class_that_the_forecast_expects_are_no_ground_for_advice(n_classes, seed):
    y, prob = many(np.random.default_rng(seed), 1000, n_classes)
    found = advise(y[y != 1], prob[y != 1])
    assert found.recommended == IDENTITY
    assert found.reason.startswith("Leave the forecast as it is: no row is of the class 1, although the forecast")


def test_a_rare_class_without_rows_leaves_temperature_and_the_default():
    """Structured scaling takes most of its probability from such a class: the rows cannot tell that this is harm."""
    y, prob = many(np.random.default_rng(0), 1000, 3, lambda z: 2.0 * z)
    rare = np.column_stack([prob * (1 - 2e-3), np.full(1000, 2e-3)])
    found = advise(y, rare)
    assert [c.method for c in found.candidates] == [IDENTITY, "temperature", "evidence-scaling"]
    default = found.calibrator().fit(rare, y).predict_proba(rare)[:, 3].sum()
    assert default > 0.5 * rare[:, 3].sum() > StructuredMatrixScaling().fit(rare, y).predict_proba(rare)[:, 3].sum()


@pytest.mark.parametrize("n_classes", [2, 3])
def test_rows_of_one_class_are_no_ground_for_advice(n_classes):
    prob = np.random.default_rng(0).dirichlet(np.ones(n_classes), 200)
    found = advise(np.ones(200, dtype=int), prob)
    assert found.recommended == IDENTITY
    assert found.reason.startswith("Leave the forecast as it is: all 200 rows are of the class 1")


# Labels


def test_logits_and_labels_that_are_words_are_fitted_as_such():
    label, prob = many(np.random.default_rng(0), 600, 3, CHANGES["over-confident"])
    words = np.array(["ant", "bee", "cat"])[label]
    found = advise(words, np.log(prob), input="logit", labels=["ant", "bee", "cat"])
    assert found.calibrator().input == "logit"
    fitted = found.calibrator().fit(np.log(prob), words)
    assert log_loss(words, fitted.calibrate(np.log(prob)), labels=fitted.classes_) < (log_loss(label, prob))


def test_a_sum_that_is_one_nearly_is_no_ground_for_a_calibrator():
    label, prob = many(np.random.default_rng(0), 300, 3)
    for given in (prob, prob.astype(np.float32), np.floor(1e4 * prob) / 1e4):
        assert advise(label, given).recommended == IDENTITY


def test_few_rows_are_said_to_be_too_few():
    y, prob = one_event(0, 99, CHANGES["over-confident"])
    found = advise(y, prob)
    assert found.recommended == IDENTITY
    assert found.calibrator() is found.command is None
    assert found.reason == "99 rows are too few to judge a calibrator: 100 or more are needed."
    with pytest.warns(CalibrationWarning, match="10000 rows are copies of 10"):  # weights make no more of them
        of_ten = advise(y[:10], prob[:10], sample_weight=np.full(10, 1000))
    assert of_ten.reason.startswith("10 rows are too few")


def test_of_a_large_table_some_rows_are_drawn(monkeypatch):
    forecast = make_softmax_forecast(60_000, 3, rng=0)
    monkeypatch.setattr(module, "MOST_ROWS", 3000)
    found = advise(forecast.y, forecast.prob)
    assert (found.n_rows, found.n_used) == (60_000, 3000)
    for most, used in ((7500, 2500), (5000, 2000)):
        monkeypatch.setattr(module, "MOST_NUMBERS", most)
        assert advise(forecast.y, forecast.prob).n_used == used


def test_a_candidate_that_is_the_default_stands_there_once(monkeypatch):
    monkeypatch.setattr(classifier, "MOST_CLASSES", 2)
    found = advise(*many(np.random.default_rng(0), 1200, 3))
    assert [c.method for c in found.candidates] == [IDENTITY, "temperature", "svs", "sms"]


# The result


def test_the_advice_is_a_table_and_a_command():
    pytest.importorskip("pandas")
    found = advise(*load_digits_forecast())
    frame = found.to_frame("pandas")
    assert frame["method"].tolist() == [IDENTITY, "temperature", "svs", "sms", "evidence-scaling"]
    assert frame["recommended"].tolist() == [False, False, False, False, True]
    assert found.command == "calibrant fit CALIBRATION_FILE --method evidence-scaling -o calibrator.json"
    assert str(found).splitlines()[-1] == found.reason
    assert found.reason.startswith("Fit evidence-scaling: it lowers the cross-validated log loss from ")
    assert repr(found) == "Advice(evidence-scaling, rows=1497, classes=10)"
