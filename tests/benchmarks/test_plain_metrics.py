"""What the benchmarks of plain metrics compute: the same numbers by every contender, and a page that tells losses."""

import time
from inspect import signature

import numpy as np
import pytest
from sklearn.metrics import brier_score_loss

from benchmarks import drawn
from benchmarks.__main__ import COMPARISONS, merged, parted
from benchmarks.decades import Case, Decades, lines
from benchmarks.first_calls import FirstCalls
from benchmarks.measure import OURS, Contender, Timing, spelled, verdict
from benchmarks.peers import calibrant, numpy_lines, scikit_learn

BINS = 15
PEERS = [numpy_lines, scikit_learn]


@pytest.mark.parametrize("peer", PEERS)
@pytest.mark.parametrize("classes", [2, 3, 40])
def test_the_lines_of_a_peer_equal_six_metrics_of_a_table(peer, classes):
    if peer is scikit_learn and "labels" not in signature(brier_score_loss).parameters:
        pytest.skip("scikit-learn has a Brier score of several classes from 1.7 on")
    y, prob = drawn.table(300, classes)
    np.testing.assert_allclose(peer.six(y, prob, BINS)(), calibrant.six(y, prob, BINS)(), rtol=1e-12)


@pytest.mark.parametrize("peer", PEERS)
def test_the_lines_of_a_peer_equal_metrics_of_a_column(peer):
    y, p = drawn.column(300)
    np.testing.assert_allclose(peer.three(y, p, BINS)(), calibrant.three(y, p, BINS)(), rtol=1e-12)
    assert peer.ece(y, p, BINS)() == pytest.approx(calibrant.ece(y, p, BINS)(), rel=1e-12)


@pytest.mark.parametrize("classes", [2, 3])
def test_one_call_gives_what_the_functions_give(classes):
    y, prob = drawn.table(300, classes)
    np.testing.assert_allclose(calibrant.six_at_once(y, prob, BINS)(), calibrant.six(y, prob, BINS)(), rtol=1e-12)
    event = (y == 1).astype(int), prob[:, 1]
    np.testing.assert_allclose(calibrant.three_at_once(*event, BINS)(), calibrant.three(*event, BINS)(), rtol=1e-12)


def test_the_lines_of_a_peer_equal_the_log_loss():
    y, prob = drawn.table(50, 20)
    for peer in PEERS:
        assert peer.log_loss(y, prob)() == pytest.approx(calibrant.log_loss(y, prob)(), rel=1e-12)
    y, logit = drawn.logits(50, 20)
    expected = calibrant.log_loss_of_logits(y, logit)()
    assert numpy_lines.log_loss_of_logits(y, logit)() == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_what_is_drawn_has_its_shape_and_precision(precision, monkeypatch):
    monkeypatch.setattr(drawn, "CELLS", 7)  # several blocks, the last one not full
    y, prob = drawn.table(20, 3, precision)
    assert (y.shape, prob.shape, prob.dtype) == ((20,), (20, 3), precision)
    np.testing.assert_allclose(prob.sum(axis=1), 1.0, rtol=1e-6)
    y, p = drawn.column(20, precision)
    assert (y.shape, p.shape, p.dtype) == ((20,), (20,), precision)
    assert set(np.unique(y)) == {0, 1}


def test_labels_are_drawn_at_the_temperature_that_is_stated():
    y, logit = drawn.logits(20_000, 4)
    loss = {t: numpy_lines.log_loss_of_logits(y, logit / t)() for t in (1.3, drawn.TRUE_TEMPERATURE, 1.7)}
    assert min(loss, key=loss.get) == drawn.TRUE_TEMPERATURE


# The race


@pytest.fixture
def answering(monkeypatch):
    """Contenders that answer what they are told, at once."""

    def contender(name, answer):
        call = answer if callable(answer) else lambda: answer
        monkeypatch.setattr(numpy_lines, name, lambda *_: call, raising=False)
        return Contender({"ours": OURS}.get(name, name), "numpy_lines", name)

    def make(rows, _):
        return np.zeros(rows), np.zeros(rows), BINS

    return lambda **answers: Decades([contender(*pair) for pair in answers.items()], make)


def test_a_race_measures_every_size_and_remembers_ours(answering):
    race = answering(ours=0.5, other=0.5 + 1e-10)
    table = race.table((10, 100), 3, "float64").splitlines()
    assert table[0] == "| | 10 | 100 | largest difference |"
    assert table[3].endswith("| 1e-10 |")
    assert race.seconds(100, "float64") > 0.0
    assert race.seconds(11, "float64") is None


@pytest.mark.parametrize("answer", [0.5 + 1e-6, np.nan])
def test_a_race_of_different_answers_is_refused(answering, answer):
    with pytest.raises(AssertionError, match="other says"):
        answering(ours=0.5, other=answer).table((10,), 3, "float64")


def test_a_peer_that_is_not_installed_is_skipped_aloud(answering):
    race = answering(ours=0.5)
    race = Decades([*race.contenders, Contender("absent", "absent", "ece")], race.make)
    race.table((10,), 3, "float64")
    assert race.names == [OURS]
    assert [line.split(",")[0] for line in race.skipped] == ["absent: skipped"]


def test_a_peer_can_be_left_out_of_large_tables(answering):
    race = answering(ours=0.5, other=0.5)
    race = Decades(race.contenders, race.make, {"other": 10})
    assert race.table((10, 100), 3, "float64").splitlines()[3].endswith(" | left out | under 1e-14 |")


def test_a_slow_peer_is_called_once(answering, monkeypatch):
    monkeypatch.setattr("benchmarks.decades.ONCE", 0.001)
    calls = []

    def slow():
        calls.append(time.sleep(0.002))
        return 0.5

    assert "(once)" in answering(ours=0.5, slow=slow).table((10,), 3, "float64")
    assert len(calls) == 1


@pytest.mark.parametrize(
    ("numpy", "bold", "said"),
    [(1e-3, "NumPy lines", "**2.00**, slower than NumPy lines"), (4e-3, f"{OURS}, one call", "0.50 (NumPy lines)")],
)
def test_a_table_tells_who_is_faster_losses_included(numpy, bold, said):
    seconds = {OURS: 3e-3, f"{OURS}, one call": 2e-3, "NumPy lines": numpy, "torch lines": 5e-3}
    case = Case(10, {name: Timing(0.0, [one]) for name, one in seconds.items()})
    table = lines([case], dict.fromkeys(seconds, 0.0))
    assert [line.split(" | ")[0] for line in table[:-1] if "**" in line] == [f"| {bold}"]
    assert table[-1] == f"| calibrant, times as long as the fastest peer | {said} | |"


def test_a_fresh_process_measures_a_second_call():
    fresh = FirstCalls("ece")
    table = fresh.table([("NumPy lines", True)], 1, 100_000, "float64")
    run = fresh.found["NumPy lines", True, 100_000, "float64"]
    assert run["input_bytes"] == 1_600_000
    assert 0.0 < run["later_call_seconds"] <= run["call_seconds"] + run["import_seconds"] + 1.0
    if run["later_extra_bytes"] is not None:
        assert 0.4 < fresh.extra_of_input("NumPy lines", 100_000, "float64") < 3.0  # an index and a sum a row
    assert table.splitlines()[2].startswith("| NumPy lines |")


# The page


def test_a_section_measured_alone_replaces_its_own_and_no_other():
    first, second, third = (comparison.TITLE for comparison in list(COMPARISONS.values())[:3])
    preamble, before = parted(f"# Benchmarks\n\nOn a machine.\n\n## {third}\n\nold\n\nlines\n\n## By hand\n\nkept\n")
    assert preamble == "# Benchmarks\n\nOn a machine."
    assert before == {third: "old\n\nlines", "By hand": "kept"}
    after = merged(before, {second: "new", third: "newer", first: "newest"})
    assert list(after.items()) == [(first, "newest"), (second, "new"), (third, "newer"), ("By hand", "kept")]


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(1.234, "1.23 s"), (0.0998, "99.8 ms"), (0.1234, "123 ms"), (3.21e-5, "32.1 µs"), (150.2, "150 s")],
)
def test_times_are_spelled_in_the_unit_that_suits_them(seconds, said):
    assert spelled(seconds) == said


def test_a_verdict_can_be_missed():
    assert "met" in verdict(0.04, 0.05)
    assert "missed" in verdict(0.05, 0.05)
