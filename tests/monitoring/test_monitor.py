"""Monitors add up, cut windows as asked, say what is wrong, and keep their state, of which no changed one is taken."""

import hashlib
import json
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import numpy as np
import pytest

import calibrant
from calibrant import EqualMass, Monitor, expected_calibration_error, log_loss
from calibrant._core.checksum import checksum_of
from calibrant.exceptions import CalibrationWarning
from calibrant.monitoring import MonitorTable
from calibrant.monitoring.monitor import as_times, as_windows

RNG = np.random.default_rng(7)
P = RNG.random(1200)
Y = (RNG.random(1200) < P).astype(int)
TABLE = RNG.dirichlet(np.ones(3), 900)
CLASS = (TABLE.cumsum(axis=1) < RNG.random((900, 1))).sum(axis=1)
DAY = np.datetime64("2026-02-27") + np.arange(900) // 300


def state(monitor):
    return json.dumps(monitor.to_dict())


def again(monitor):
    return Monitor.from_dict(json.loads(state(monitor)))


@pytest.fixture(scope="module")
def whole():
    return Monitor(window=200).update(Y, P)


# Sums that add up


FIGURES = ("rows", "ece", "ece_upper", "gap", "noise_floor", "log_loss", "evidence", "drift_evidence")


def require_same(one, other, names=FIGURES):
    """Two monitors have the same windows and figures."""
    a, b = one.table(n_resamples=9), other.table(n_resamples=9)
    assert a.window == b.window
    for name in names:
        np.testing.assert_allclose(getattr(a, name), getattr(b, name), rtol=1e-12)


def test_the_order_of_merging_changes_nothing_but_the_last_digits():
    # Windows of a third of these rows.
    parts = [Monitor(window=200).update(Y[k::3], P[k::3], first=0) for k in range(3)]
    merged = parts[0] + parts[1] + parts[2]
    assert (merged.n_rows, merged.n_windows) == (1200, 2)
    require_same(merged, parts[2] + parts[0] + parts[1], FIGURES[:4] + FIGURES[5:])
    tenths = [Monitor().update([1] * m + [0] * k, [0.7] * (m + k), at=0) for m, k in ((6, 2), (1, 1), (5, 1))]
    require_same(tenths[0], tenths[1] + tenths[2])  # six of eight with one and one more are 0.7
    one, other = (Monitor().update([0, 1], [0.2, 0.7], at=name) for name in ("1", "01"))
    assert (one + other).table().window == (other + one).table().window
    one, other = (Monitor().update([1], [0.0], at=name) for name in (1, 1.0))
    assert one.alarms == other.alarms == (one + other).alarms


def test_batches_of_any_size_and_workers_that_know_their_rows_are_the_rows_in_one_piece(whole):
    monitor = Monitor(window=200)
    for rows in np.split(np.arange(1200), [1, 350, 700]):
        monitor.update(Y[rows], P[rows])
    require_same(monitor, whole)
    late = Monitor(window=200).update(Y[500:], P[500:], first=500)
    require_same(late + Monitor(window=200).update(Y[:500], P[:500]), whole)


def test_threads_that_add_rows_to_one_monitor_lose_none():
    monitor = Monitor()
    list(ThreadPoolExecutor(4).map(lambda day: monitor.update(Y, P, at=day), [0, 1] * 50))
    assert monitor.n_rows == monitor.table(n_resamples=9).rows.sum() == 100 * 1200


@pytest.mark.parametrize(
    ("notion", "kind"),
    [("binary", np.float64), ("confidence", np.float32), ("top-label", np.float64), ("class-wise", np.float32)],
)
def test_json_loses_no_bit_and_the_state_goes_on(notion, kind):
    y, prob = (Y[:900], P[:900].astype(kind)) if notion == "binary" else (CLASS, TABLE.astype(kind))
    monitor = Monitor(window="1d", notion=notion).update(y[:600], prob[:600], at=DAY[:600])
    read = again(monitor)
    assert state(read) == state(monitor)
    for each in (monitor, read):
        each.update(y[600:], prob[600:], at=DAY[600:])
    assert state(read) == state(monitor)
    np.testing.assert_array_equal(read.table(n_resamples=9).evidence, monitor.table(n_resamples=9).evidence)


def test_intervals_of_decimals_are_the_same_in_either_precision():
    score = np.random.default_rng(0).integers(0, 11, 200) / 10
    y = np.random.default_rng(1).random(200) < score
    tables = [Monitor().update(y, kind(score), at=0).table() for kind in (np.float64, np.float32)]
    for name in ("ece_lower", "ece_upper", "noise_floor"):
        assert getattr(tables[0], name) == pytest.approx(getattr(tables[1], name), abs=1e-6)


def test_the_state_of_a_monitor_of_which_one_class_alone_is_predicted_is_read():
    monitor = Monitor(window=450, notion="top-label").update([0, 1], [[0.9, 0.1, 0.0]] * 2)
    assert state(again(monitor)) == state(monitor)


def test_a_reference_of_its_own_is_kept_and_adds_up():
    parts = [Monitor(window=300).update_reference(Y[k::2], P[k::2]) for k in range(2)]
    both = (parts[0] + parts[1]).update(Y[:600], P[:600])
    require_same(again(both), Monitor(window=300).update_reference(Y, P).update(Y[:600], P[:600]))
    table = both.table(n_resamples=9)
    assert not table.is_reference.any()
    assert np.isfinite(table.drift_evidence).all()


def test_whole_weights_are_repeated_rows():
    times = RNG.integers(0, 4, 300)
    weighted = Monitor(window="1d").update(Y[:300], P[:300], at=DAY[:300], sample_weight=times)
    rows = np.repeat(np.arange(300), times)
    require_same(weighted, Monitor(window="1d").update(Y[rows], P[rows], at="2026-02-27"))


def test_a_weight_of_many_rows_takes_neither_their_memory_nor_their_time():
    """A row of weight 2^43 was once repeated in memory; times 2 to a power no digit of a sum changes."""
    times = RNG.integers(0, 4, 300)
    monitors = [Monitor(window=100).update(Y[:300], P[:300], sample_weight=times * of) for of in (1, 1 << 43)]
    few, many = (monitor.table(n_resamples=99) for monitor in monitors)
    assert many.rows.tolist() == [rows << 43 for rows in few.rows.tolist()]
    for name in ("ece", "gap", "log_loss", "mean_prob", "event_rate"):
        assert getattr(many, name).tolist() == getattr(few, name).tolist()
    np.testing.assert_allclose(many.ece_lower, many.ece, rtol=1e-3)
    with pytest.raises(ValueError, match=r"at most 2\^53 rows in all; got 3e\+17. Leave the weights out"):
        Monitor(window=100).update(Y[:300], P[:300], sample_weight=np.full(300, 3e15))


# Figures


def test_figures_of_a_window_are_those_of_its_rows(whole):
    table, rows = whole.table(n_resamples=300), slice(200, 400)
    assert table.ece[1] == pytest.approx(expected_calibration_error(Y[rows], P[rows]), rel=1e-12)
    assert table.log_loss[1] == pytest.approx(log_loss(Y[rows], P[rows]), rel=1e-12)
    assert table.gap[1] == pytest.approx(Y[rows].mean() - P[rows].mean(), rel=1e-9)
    calibrated, seen = (P[rows] * (1 - P[rows])).mean(), (Y[rows] - P[rows]).var()
    assert calibrated > seen  # as where few rare events occurred; the verdict takes the larger one too
    width = 1.959964 * np.sqrt(calibrated / 200)
    assert table.gap_upper[1] - table.gap[1] == pytest.approx(width, rel=1e-5)
    known = calibrant.assess(Y[rows], P[rows], metrics=["ece"], n_resamples=2000)["ece"]
    assert table.noise_floor[1] == pytest.approx(known.noise_floor, rel=0.06)
    assert abs(table.ece_upper[1] - known.upper) < 0.02


def test_class_wise_errors_have_no_gap_in_the_large():
    table = Monitor(window="1d", notion="class-wise").update(CLASS, TABLE, at=DAY).table(n_resamples=50)
    assert np.isnan(table.gap).all()
    rows = DAY[0] == DAY
    assert table.ece[0] == pytest.approx(calibrant.classwise_calibration_error(CLASS[rows], TABLE[rows]), rel=1e-12)
    assert "nan" not in str(table)


def test_two_classes_class_by_class_vary_as_their_event_does():
    event, each = (Monitor(notion=word).update(Y, P, at=0).table(n_resamples=2000) for word in ("binary", "class-wise"))
    assert each.ece == pytest.approx(event.ece)
    assert each.noise_upper - each.noise_floor == pytest.approx(event.noise_upper - event.noise_floor, rel=0.12)


def test_the_table_is_a_result_with_a_frame():
    table = Monitor(window=100).update(Y[:300], P[:300]).table(n_resamples=9)
    assert isinstance(table, MonitorTable)
    assert repr(table) == "MonitorTable(binary, windows=3, rows=300, alarms=0)"
    frame = table.to_frame("pandas")
    assert frame["window"].tolist() == ["rows 0:100", "rows 100:200", "rows 200:300"]
    assert frame["is_reference"].tolist() == [True, False, False]
    assert np.isnan(frame["drift_evidence"][0])
    assert "no alarm; it takes evidence of 20" in str(table)


# Windows


def test_windows_of_time_begin_at_midnight_of_utc_and_weeks_on_monday():
    noon = datetime(2026, 11, 22, 23, 30, tzinfo=timezone(timedelta(hours=-2)))  # a Sunday there, Monday in UTC
    assert as_windows("1d").name(as_windows("1d").keys(noon, 1, 0)[0]) == "2026-11-23"
    assert as_windows("1w").name(as_windows("1w").keys("2026-11-29T23:59", 1, 0)[0]) == "2026-11-23"
    assert as_windows("6h").name(as_windows("6h").keys("2026-11-23T13:00Z", 1, 0)[0]) == "2026-11-23T12:00"
    again = [datetime(2026, 10, 25, hour, 30, tzinfo=UTC).astimezone(ZoneInfo("Europe/Berlin")) for hour in (0, 1)]
    assert np.diff(as_windows("1h").keys(again, 2, 0)) == [1]  # both are 2:30 there, and equal to Python
    assert as_windows("15min").name(as_windows("15min").keys("1969-12-31T23:50", 1, 0)[0]) == "1969-12-31T23:45"


def test_times_of_any_kind_are_the_same_times():
    pandas = pytest.importorskip("pandas")
    days = ["2026-11-23", "2026-11-24"]
    texts = np.array(["2026-11-23T01:00:00+01:00", "2026-11-24"])
    times = [datetime(2026, 11, 23, tzinfo=UTC), datetime(2026, 11, 24)]
    series = pandas.Series(pandas.to_datetime(days, utc=True))
    typed = np.array(times, dtype=object), np.asarray(series), np.array(days, "M8[D]"), np.array(days, "M8[ns]")
    for values in (texts, *typed):
        assert as_times(values).astype("M8[D]").tolist() == [t.date() for t in times]
    assert all(as_windows(None).keys(values, 2, 0).tolist() == days for values in typed)
    with pytest.raises(ValueError, match="got a missing one"):
        as_windows(None).keys(pandas.NaT, 1, 0)


# Ends


def test_one_row_one_class_and_ties():
    one = Monitor(window=1, reference=0).update([1], [0.4])
    assert one.table(n_resamples=9).rows.tolist() == [1]
    assert one.alarms == ()
    no_event = Monitor(window=50).update(np.zeros(100, dtype=int), np.full(100, 0.01))
    assert no_event.alarms == ()
    assert np.isfinite(no_event.table(n_resamples=9).evidence).all()
    always = Monitor(window=50, reference=0).update(np.ones(100, dtype=int), np.full(100, 0.2))
    assert "more often than predicted" in always.alarms[0].where


def test_an_impossible_event_is_infinite_evidence_and_possible_ones_are_none():
    y, p = np.array([0, 1] * 50), np.array([0.0, 1.0] * 50)
    sure = Monitor(window=10).update(y, p)
    assert sure.alarms == ()
    assert (sure.table(n_resamples=9).evidence <= 1.0 + 1e-12).all()
    y[57] = 0
    monitor = again(Monitor(window=10).update(y, p))
    (alarm,) = monitor.alarms
    assert (alarm.window, alarm.evidence, alarm.test) == ("rows 50:60", np.inf, "calibration")
    assert "probability 0 occurred" in str(alarm)
    assert "(evidence infinite, alarm from 20)" in str(alarm)
    assert monitor.table(n_resamples=9).impossible.tolist() == [0, 0, 0, 0, 0, 1, 0, 0, 0, 0]


def test_evidence_beyond_all_numbers_is_not_that_of_an_impossible_event():
    monitor = Monitor(reference=0).update(np.zeros(20_000, dtype=int), np.full(20_000, 0.5), at=np.zeros(20_000))
    table = monitor.table(n_resamples=9)
    assert 1e308 < table.evidence[0] < np.inf
    assert "(evidence more than 1e308, alarm from 20)" in str(table.alarms[0])
    assert str(table).splitlines()[2].endswith("more than 1e308")
    assert "e+308" not in str(table)


def test_logits_and_predictions_that_are_certain_and_wrong():
    logits = Monitor(window=2, input="logit").update([0, 1, 1, 0], [40.0, 3.0, 2.0, -1.0])
    assert logits.table(n_resamples=9).impossible.tolist() == [0, 0]
    table = np.array([[1.0, 0.0, 0.0], [0.2, 0.8, 0.0], [0.0, 0.5, 0.5]])
    of_top = Monitor(window=3, notion="confidence").update([1, 2, 1], table)
    assert of_top.table(n_resamples=9).impossible.tolist() == [1]  # the second was unlikely, and not predicted
    of_classes = Monitor(window=3, notion="class-wise").update([1, 2, 1], table)
    assert of_classes.table(n_resamples=9).impossible.tolist() == [2]


def test_drift_names_the_window_the_rows_and_the_direction():
    rng = np.random.default_rng(1)
    p = rng.random(9000)
    truth = np.where((np.arange(9000) >= 6000) & (p > 0.5), p - 0.25, p)
    monitor = Monitor(window=500, reference=6, alpha=0.01).update(rng.random(9000) < truth, p)
    calibration, drift = monitor.alarms
    assert (calibration.test, drift.test) == ("calibration", "drift")
    assert calibration.window == "rows 6000:6500"
    assert drift.window in ("rows 6000:6500", "rows 6500:7000")
    assert drift.evidence >= 100.0
    assert "lower than in the reference" in drift.where
    assert "0.5" in calibration.where
    assert "less often" in calibration.where


@pytest.mark.parametrize("notion", ["top-label", "class-wise"])
def test_drift_of_several_classes_is_found(notion):
    rng = np.random.default_rng(3)
    prob = rng.dirichlet(np.ones(3), 12_000)
    truth = prob.copy()
    truth[6000:] = prob[6000:] ** 0.4 / (prob[6000:] ** 0.4).sum(axis=1, keepdims=True)
    y = (truth.cumsum(axis=1) < rng.random((12_000, 1))).sum(axis=1)
    monitor = Monitor(window=1000, reference=4, notion=notion).update(y, prob)
    assert {alarm.test for alarm in monitor.alarms} == {"calibration", "drift"}
    assert all(int(alarm.window[5:].split(":")[0]) >= 6000 for alarm in monitor.alarms)


def test_class_wise_evidence_is_the_mean_over_classes():
    whole = Monitor(window=100, notion="class-wise", reference=0).update(CLASS, TABLE)
    each = [Monitor(window=100, reference=0).update(k == CLASS, TABLE[:, k]) for k in range(3)]
    evidence, *of_class = (monitor.table(n_resamples=9).evidence for monitor in (whole, *each))
    np.testing.assert_allclose(evidence, np.mean(of_class, axis=0), rtol=1e-9)


# Refusals


OF_VALUES = [
    (lambda: Monitor(window="a day"), "a whole number with one of s, min, h, d, w behind it; got 'a day'"),
    (lambda: Monitor(window=0), "window must be a whole number, at least 1; got 0"),
    (lambda: Monitor(alpha=5), r"alpha must be a fraction in \(0, 1\); got 5"),
    (lambda: Monitor(notion="top-2-label"), "must be binary, confidence, top-label or class-wise; got top-2-label"),
    (lambda: Monitor(binning=EqualMass(5)), "must have the same edges in each window; got EqualMass"),
    (lambda: Monitor().update(Y, P), "at must be given with window=None; got none"),
    (lambda: Monitor(window="1d").update(Y, P, at=3.5), "at must be a time as in ISO 8601"),
    (lambda: Monitor(window="1d").update(Y[:2], P[:2], at=np.array(["2026-01-01", "NaT"], "M8[D]")), "a missing"),
    (lambda: Monitor(window=10).update(CLASS, TABLE).update(Y[:5], P[:5]), r"the 2 columns once; got \[0, 1, 2\]"),
    (lambda: Monitor(window="1d").update(Y, P, at=DAY), r"a value for each of the 1200 rows; got shape \(900,\)"),
    (lambda: Monitor(window=10).update(Y, P, at=DAY), "at must be left out where windows are numbers of rows"),
    (lambda: Monitor(window=10).update(Y[:2], P[:2], sample_weight=[0.5, 1]), "whole numbers.* got fractions"),
    (lambda: Monitor(window=10).update(Y, P) + Monitor(window=20), "options are the same; got others for window"),
    (lambda: Monitor(window=10).table(), "must have rows for a table; got none"),
    (lambda: Monitor(window=1).update(np.zeros(10_001), np.full(10_001, 0.1)), "at most 10000 windows; got 10001"),
    (lambda: Monitor.from_dict({"calibrant_monitor": 9}), "version 1; got version 9"),
    (lambda: Monitor.from_dict([]), "must be the state of a monitor"),
    (lambda: Monitor().update(Y, P, at="a").update(Y, P, at=1).alarms, "numbers or by words; got both"),
    (lambda: Monitor().update(Y[:2], P[:2], at=["1.2.2026", "May"]), "names of windows must be dates from the year on"),
    (lambda: Monitor().update(Y[:2], P[:2], at=["a", np.nan]), r"words, one kind of them; got \['a', nan\]"),
    (lambda: Monitor().update(Y, P, at=np.inf), "numbers, dates or words"),
    (lambda: str(Monitor(reference=2).update(Y, P, at=1).update(Y, np.float32(P), at=2)), "must be of one precision"),
]
OF_TYPES = [
    (lambda: Monitor(window=10) + 1, "a monitor adds up with monitors; got 1"),
    (lambda: Monitor(window=10).update(calibrant.predictions([(Y, P)]), None), "in memory; .* each batch alone"),
]


@pytest.mark.parametrize(
    ("error", "call", "words"),
    [(ValueError, *row) for row in OF_VALUES] + [(TypeError, *row) for row in OF_TYPES],
    ids=[words[:40] for _, words in OF_VALUES + OF_TYPES],
)
def test_what_is_wrong_is_said(error, call, words):
    with pytest.raises(error, match=words):
        call()


def test_one_window_has_one_precision():
    single = P.astype(np.float32)
    both = Monitor(window=600).update_reference(Y, P).update(Y[:600], P[:600]).update(Y[600:], single[600:])
    assert both.n_rows == 1200
    for update in (Monitor(window=5000).update, Monitor(window=5000).update_reference):
        with pytest.raises(ValueError, match="must be of one precision; got single and double"):
            update(Y, P) and update(Y, single)


def test_rows_without_weight_are_numbered():
    times = RNG.integers(0, 3, 1200)
    times[[0, *range(1100, 1200)]] = 0
    monitor = Monitor(window=100).update(Y, P, sample_weight=times).update(Y[:50], P[:50])
    one = monitor.table(n_resamples=9)
    assert (one.window[-1], one.rows[1]) == ("rows 1200:1300", times[100:200].sum())
    assert monitor.n_rows == np.count_nonzero(times) + 50


@pytest.mark.parametrize("turned", [False, True])
def test_an_empty_monitor_keeps_its_options_or_is_refused(turned):
    def added(**options):
        pair = Monitor(window=100).update(Y, P), Monitor(window=100, **options)
        return pair[turned] + pair[not turned]

    assert added().n_rows == added(labels=[0, 1]).n_rows == 1200
    for options in ({"labels": ["a", "b"]}, {"notion": "class-wise"}, {"input": "logit"}, {"binning": 7}):
        with pytest.raises(ValueError, match=f"got others for {next(iter(options))}"):
            added(**options)
    both = Monitor(window=100, labels=["a", "b"]) + Monitor(window=100, notion="class-wise")
    assert (both.labels, both.notion.name) == (["a", "b"], "class-wise")


def test_rows_that_are_refused_decide_nothing():
    monitor = Monitor(window=100)
    with pytest.raises(ValueError, match="whole numbers"):
        monitor.update(CLASS, TABLE, sample_weight=np.full(900, 0.5))
    assert (monitor.labels, monitor.notion) == (None, None)
    assert monitor.update(Y, P).n_rows == 1200


@pytest.mark.parametrize("pos_label", [0, 1])
@pytest.mark.parametrize("labels", [None, [0, 1], [1, 0]])
def test_the_event_of_two_columns_is_the_same_in_each_update(pos_label, labels):
    both = np.column_stack([1.0 - P, P] if labels != [1, 0] else [P, 1.0 - P])
    pieces = [slice(0, 400), slice(400, 800), slice(800, 1200)]
    monitor = Monitor(window=400, pos_label=pos_label, labels=labels)
    for rows in pieces:
        monitor = again(monitor.update(Y[rows], both[rows]))
    one = Monitor(window=400).update(pos_label == Y, P if pos_label else 1.0 - P)
    np.testing.assert_allclose(monitor.table(n_resamples=9).evidence, one.table(n_resamples=9).evidence, rtol=1e-9)


# Rows that arrive late, or whose time is wrong


def days(*shifts, rows=200):
    """Yield a day of rows for each shift of the event rate, from the first of January on."""
    rng = np.random.default_rng(8)
    for day, shift in enumerate(shifts):
        p = rng.uniform(0.1, 0.8, rows)
        yield (rng.random(rows) < p + shift).astype(int), p, f"2026-01-{day + 1:02}"


def test_an_alarm_that_was_looked_at_stands_whatever_rows_arrive_late():
    monitor = Monitor(window="1d", reference=2)
    for y, p, at in days(0.0, 0.0, 0.0, 0.0, 0.19, 0.19):
        monitor.update(y, p, at=at)
    raised = monitor.alarms
    assert [alarm.test for alarm in raised] == ["calibration", "drift"]
    monitor = again(monitor)
    for y, p, at in list(days(*[0.0] * 6, rows=40_000))[4:]:
        monitor.update(y, p, at=at)
    late = monitor.table(n_resamples=9)
    assert late.evidence.max() < 20.0
    assert late.alarms == monitor.alarms == again(monitor).alarms == raised
    assert (monitor + Monitor(window="1d", reference=2)).alarms == raised
    assert all(f"alarm: {alarm}" in str(late) for alarm in raised)


@pytest.mark.parametrize("by_state", [False, True])
def test_late_rows_that_move_the_reference_are_said(by_state):
    monitor = Monitor(window="1d", reference=2)
    for y, p, at in days(0.0, 0.0, 0.0):
        monitor.update(y, p, at=at)
    assert monitor.alarms == ()
    monitor = again(monitor) if by_state else monitor
    monitor.update([0], [0.5], at="2025-12-02")
    words = r"moved the reference from 2026-01-01, 2026-01-02 to 2025-12-02, 2026-01-01: the evidence of drift"
    with pytest.warns(CalibrationWarning, match=words):
        assert monitor.alarms == ()
    assert monitor.alarms == again(monitor).alarms == ()  # it is said once


# States of monitors: one that was changed is refused, and what NumPy gave is JSON


@pytest.fixture(scope="module")
def kept():
    return json.loads(state(Monitor(window=300).update_reference(Y, P).update(Y, P)))


def test_a_checksum_is_that_of_the_sorted_json_without_it(kept):
    document = kept | {"long": list(range(3000)), "none": [[], {}, [{}]]}
    sorted_json = json.dumps(document | {"checksum": 0}, sort_keys=True, separators=(",", ":"))
    without = sorted_json.replace('"checksum":0,', "")
    assert checksum_of(document) == f"sha256:{hashlib.sha256(without.encode()).hexdigest()}"
    assert Monitor.from_dict(kept).to_dict() == kept
    for name in set(kept) - {"calibrant_monitor"}:
        with pytest.raises(ValueError, match="must match its checksum; got"):
            Monitor.from_dict({**kept, name: [kept[name]]})


def test_a_state_that_lacks_an_entry_is_refused_in_words(kept):
    for name in set(kept) - {"calibrant_monitor", "checksum"}:
        lacking = {key: value for key, value in kept.items() if key != name}
        with pytest.raises(ValueError, match=r"state of a monitor must be whole; got KeyError"):
            Monitor.from_dict({**lacking, "checksum": checksum_of(lacking)})


@pytest.mark.parametrize("name", ["count", "weight", "score_sum", "outcome_sum"])
@pytest.mark.parametrize(
    ("edit", "words"),
    [(lambda sums: sums[:1], "each bin must have all its sums"), (lambda sums: [-1.0, *sums[1:]], "lie between 0 and")],
    ids=["cut", "below 0"],
)
def test_a_state_with_sums_that_no_bin_has_is_refused_in_words(name, edit, words, kept):
    cut = deepcopy(kept)
    problem = cut["windows"][0]["sums"]["cells"][0]["problems"][0]
    problem[name] = edit(problem[name])
    with pytest.raises(ValueError, match=words):
        Monitor.from_dict({**cut, "checksum": checksum_of(cut)})


@pytest.mark.parametrize("alpha", [{"number": "nan"}, None, "a"])
def test_an_alarm_whose_level_is_no_number_is_refused(alpha):
    monitor = Monitor(window=300).update(1 - Y, P)
    assert monitor.alarms
    kept = json.loads(state(monitor))
    (*_, alarm) = kept["alarms"]
    alarm["alpha"] = alpha
    with pytest.raises(ValueError, match=r"state of a monitor must be whole; got (Type|Value)Error"):
        Monitor.from_dict({**kept, "checksum": checksum_of(kept)})


def test_labels_windows_and_names_of_numpy_are_json():
    monitor = Monitor(window=np.int64(300), pos_label=np.int64(1), labels=np.array([0, 1])).update(Y, P)
    assert again(monitor).update(Y, P).n_rows == 2400
    monitor = Monitor(window=300, pos_label=np.str_("yes")).update(np.array(["no", "yes"])[Y], P)
    assert json.loads(state(monitor))["options"]["pos_label"] == "yes"
