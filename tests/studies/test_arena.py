"""The arena: runs that go on after a stop, what following advice does, the files of CalArena, and a table of one's own."""

import time
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from sklearn.isotonic import IsotonicRegression

from calibrant.registry import entries
from studies.arena import calarena, cells, try_yours
from studies.arena.advice import Followed, followed, redrawn, verdict
from studies.arena.cells import DEFAULT, NONE, TOO_SLOW, Cell, Line, measured, methods, read, refinement, run, scores
from studies.arena.data_sets import DESIGN, PARTS, Forecast, data_sets
from studies.arena.out_of_fold import forecast_out_of_fold

TWO = {NONE, "temperature", "sms"}


@pytest.fixture
def arena(tmp_path):
    """Two small forecasts, of two and of three classes."""
    rng = np.random.default_rng(0)
    for n_classes, name in ((2, "two"), (3, "three")):
        prob = rng.dirichlet(np.ones(n_classes), 400)
        y = (rng.random((400, 1)) > prob.cumsum(axis=1)).sum(axis=1)
        (tmp_path / "forecasts" / name).mkdir(parents=True)
        np.savez(tmp_path / "forecasts" / name / "model.npz", prob=prob.astype(np.float32), y=y)
    return {"forecasts": tmp_path / "forecasts", "results": tmp_path / "results"}


def test_a_run_goes_on_where_the_last_one_stopped(arena, monkeypatch):
    cell = Cell("two", "model", 100, 0)
    file = arena["results"] / cell.path
    assert run(cell, TWO, deadline=0.0, **arena) == 0
    assert not file.exists()
    assert run(cell, {"sms"}, **arena) == 2
    before = file.read_text()

    def killed(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(cells.Path, "replace", killed)
        with pytest.raises(KeyboardInterrupt):
            run(cell, TWO, peers=False, **arena)
    assert file.read_text() == before
    assert run(cell, TWO, peers=False, **arena) == 1
    assert file.read_text().startswith(before)
    assert run(cell, TWO, peers=False, **arena) == 0


def test_a_method_that_was_changed_is_forgotten_and_run_again(arena):
    cell = Cell("two", "model", 100, 0)
    run(cell, TWO, peers=False, **arena)
    before = (arena["results"] / cell.path).read_text()
    assert cells.forget({"sms"}, arena["results"]) == 1
    assert set(read(arena["results"] / cell.path)) == TWO - {"sms"}
    assert cells.forget({"sms"}, arena["results"]) == 0
    assert run(cell, TWO, peers=False, **arena) == 1
    after = (arena["results"] / cell.path).read_text()
    old, new = ([line.split(",")[:5] for line in sorted(text.split())] for text in (before, after))
    assert new == old


def test_a_fit_that_takes_too_long_is_a_line_and_is_not_tried_again(arena, monkeypatch):
    def endless(y, prob, other):
        while True:
            pass

    one = (np.array([0, 1]), np.full((2, 2), 0.5))
    assert measured("a", endless, one, one, most_seconds=0.02).note == TOO_SLOW
    monkeypatch.setattr(cells, "methods", lambda *_: {NONE: lambda y, prob, other: other, "a": endless})
    monkeypatch.setattr(cells, "MOST_SECONDS", 0.02)
    cells.write(arena["results"] / Cell("two", "model", 100, 0).path, [Line("a", note=TOO_SLOW)])
    start = time.process_time()
    assert run(Cell("two", "model", 100, 1), **arena) == 2
    assert time.process_time() - start < 5.0
    assert read(arena["results"] / Cell("two", "model", 100, 1).path)["a"].note == TOO_SLOW


def test_a_method_that_fails_is_a_line_with_a_note():
    one = (np.array([0, 1]), np.full((2, 2), 0.5))
    for broken, note in (
        (lambda y, prob, other: 1 / 0, "ZeroDivisionError"),
        (lambda y, prob, other: np.full_like(other, np.nan), "no probabilities"),
        (lambda y, prob, other: other[:, :1], "no probabilities"),
    ):
        line = measured("a", broken, one, one)
        assert (line.note, np.isnan(line.logloss)) == (f"failed: {note}", True)


def test_scores_against_hand_figures():
    y, prob = np.array([0, 1, 2]), np.array([[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.5, 0.5, 0.0]])
    found = scores(y, prob)
    assert found["logloss"] == pytest.approx((2 * np.log(2) - np.log(1e-12)) / 3)
    assert found["brier"] == pytest.approx((0.375 + 0.375 + 1.5) / 3)
    assert found["accuracy"] == pytest.approx(2 / 3)
    assert found["ece"] == pytest.approx(2 / 3 - 0.5)


def test_a_peer_that_is_not_installed_has_no_line_and_a_calibrator_that_does_not_load_fails(arena, monkeypatch):
    def unloadable(y, prob, other):
        raise ImportError

    monkeypatch.setattr(cells, "methods", lambda *_: {"sms": unloadable, "splinecalib": unloadable})
    cell = Cell("two", "model", 100, 0)
    assert run(cell, **arena) == 1
    (line,) = read(arena["results"] / cell.path).values()
    assert (line.method, line.note) == ("sms", "failed: ImportError")


def test_refinement_is_the_brier_score_after_the_best_monotone_map_of_each_class():
    y = np.array([0, 1, 0, 1])
    right, wrong = np.array([0.2, 0.9, 0.1, 0.6]), np.array([0.4, 0.3, 0.2, 0.1])
    assert refinement(y, np.column_stack([1 - right, right])) == 0.0
    assert refinement(y, np.full((4, 2), 0.5)) == pytest.approx(2 * 0.25)
    best = IsotonicRegression().fit_transform(wrong, y)
    expected = scores(y, np.column_stack([1 - best, best]))["brier"]
    assert refinement(y, np.column_stack([1 - wrong, wrong])) == pytest.approx(expected)
    squashed = right**2
    assert refinement(y, np.column_stack([1 - squashed, squashed])) == 0.0


def test_rows_to_calibrate_on_and_to_test_never_meet():
    fit, test = cells.split(Cell("a", "b", 300, 3), 20_000)
    assert len(fit) == 300
    assert len(test) == 5000
    assert not set(fit) & set(test)
    assert [n for n in (149, 150, 12_499, 12_500) if cells.has_rows(n, 100)] == [150, 12_499, 12_500]
    assert [n for n in (12_499, 12_500) if cells.has_rows(n, 10_000)] == [12_500]


def test_a_stop_leaves_a_balanced_table():
    order = [(cell.draw, cell.rows) for cell in cells.plan([("a", "x"), ("b", "x")], rows_of=lambda *_: 13_000)]
    assert order == sorted(order)
    assert [order.count((7, 100)), order.count((1, 10_000)), order.count((2, 3000))] == [2, 2, 0]


def test_each_data_set_is_in_one_part_and_what_was_seen_is_for_design():
    names = [one.name for one in data_sets()]
    assert len(set(names)) == len(names)
    assert {one.part for one in data_sets()} == set(PARTS)
    places = {one.place.split("/")[-1] for one in data_sets() if one.part != DESIGN}
    seen = "letter penbased optdigits satimage texture marketing segment splice magic phoneme ring twonorm chess page-blocks0"
    seen += " spambase covertype diamonds flights lending_club credit_data cells Default banana titanic contraceptive mushroom"
    assert not places & set(f"{seen} vowel vehicle german led7digit".split())
    assert len({one.place for one in data_sets()}) == len(names)


def test_a_row_is_forecast_by_a_classifier_that_did_not_see_it():
    """Trees that are grown to the end know the random label of each row that they saw, and of no other."""
    rng = np.random.default_rng(0)
    prob, y = forecast_out_of_fold(rng.normal(size=(200, 3)), np.arange(200) % 2, "extra-trees")
    assert prob.shape == (200, 2)
    assert np.allclose(prob.sum(axis=1), 1.0)
    assert 0.3 < (prob.argmax(axis=1) == y).mean() < 0.7


def test_every_registered_calibrator_has_its_word_in_the_arena():
    assert set(entries("calibrator")) | {NONE, DEFAULT} == set(methods(3, peers=False))


# Following the advice

SMALL = Followed("a", rows=1000, n_classes=2, method="beta", change=0.0, standard_error=0.0005)


def test_harm_is_more_than_both_limits_with_rows_enough():
    harmed = (0.0021, 0.0010, 1000), (0.0050, 0.0024, 1000)
    others = (0.0019, 0.0001, 1000), (0.0050, 0.0026, 1000), (-0.01, 0.0001, 1000), (0.0100, 0.0001, 999)
    found = [replace(SMALL, change=c, standard_error=e, rows=n) for c, e, n in (*harmed, *others)]
    assert verdict([SMALL, *found]) == found[:2]


def shifted(n):
    rng = np.random.default_rng(0)
    z = rng.normal(0, 1.5, 2 * n)
    y, prob = (rng.random(2 * n) < 1 / (1 + np.exp(-z))).astype(int), 1 / (1 + np.exp(-2 * z - 1))
    return Forecast("shifted", "", y[:n], prob[:n], y[n:], prob[n:])


def test_following_the_advice_is_measured_on_the_test_rows():
    found = followed(shifted(1000))
    assert found.method == "platt"
    assert found.change < -5 * found.standard_error < 0


def test_a_draw_exchanges_rows_and_keeps_pairs():
    forecast = shifted(50)
    drawn = redrawn(forecast, 1)
    assert redrawn(forecast, 0) is forecast
    assert len(drawn.fit) == 50
    before, after = (sorted(zip([*f.fit, *f.test], [*f.y_fit, *f.y_test], strict=True)) for f in (forecast, drawn))
    assert before == after


# The layout of CalArena

ONE = calarena.Experiment("wine", "forest", 30, 20, 3)


def rows(n_classes, seed=0):
    rng = np.random.default_rng(seed)
    prob = rng.dirichlet(np.ones(n_classes), 50).astype(np.float32)
    y = rng.integers(n_classes, size=50)
    values = prob[:, 1] if n_classes == 2 else prob
    return dict(zip(calarena.ARRAYS, [values[:30], y[:30], values[30:], y[30:]], strict=True))


def test_the_index_is_read_and_has_no_number_of_classes_where_there_are_two(tmp_path):
    for head, line, one in [
        ("dataset,model,cal_size,test_size,n_classes,more", "wine,forest,30,20,3,x", ONE),
        ("dataset,model,cal_size,test_size", "wine,forest,30,20", calarena.Experiment("wine", "forest", 30, 20, 2)),
    ]:
        (tmp_path / "index.csv").write_text(f"{head}\n{line}\n")
        assert calarena.read_index(tmp_path / "index.csv") == [one]


def test_a_results_file_has_the_columns_of_calarena(tmp_path):
    file = tmp_path / "results" / "SMS.csv"
    calarena.append_result(file, "a-multiclass", "SMS", ONE, Line("sms", 0.5, 0.25, 0.125, 0.75, 0.0625))
    assert file.read_text().splitlines() == [
        "dataset,model,cal_size,test_size,n_classes,SMS_logloss,SMS_brier,SMS_ece-15,SMS_accuracy,SMS_time",
        "wine,forest,30,20,3,0.5,0.25,0.125,0.75,0.0625",
    ]
    assert "n_classes" not in calarena.head_of("a-binary", "SMS")
    assert list(calarena.read_results(file)["wine", "forest"].values()) == [0.5, 0.25, 0.125, 0.75, 0.0625]


@pytest.mark.parametrize("shape", [(3,), (3, 1), (3, 2)])
def test_two_classes_are_one_column_or_two(shape):
    event = np.array([0.25, 0.5, 1.0], dtype=np.float32)
    prob = np.column_stack([1 - event, event]) if shape == (3, 2) else event.reshape(shape)
    assert calarena.as_table(prob).tolist() == [[0.75, 0.25], [0.5, 0.5], [0.0, 1.0]]


@pytest.mark.parametrize(("name", "n_classes"), [("a-binary", 2), ("a-multiclass", 3)])
def test_a_run_goes_on_and_joins(tmp_path, monkeypatch, name, n_classes):
    """Without the HDF5 file: what is read from it is given."""
    monkeypatch.setattr(calarena, "read_rows", lambda folder, _, one: rows(n_classes))
    lines = [f"{d},forest,30,20,{n_classes}" for d in "ab"]
    index = ["dataset,model,cal_size,test_size,n_classes", *lines]
    (tmp_path / f"{name}-experiments.csv").write_text("\n".join(index) + "\n")
    assert calarena.run_all(tmp_path, name, tmp_path / "results", [NONE, "temperature"], map) == 2
    assert calarena.run_all(tmp_path, name, tmp_path / "results", [NONE, "temperature"], map) == 0
    base = calarena.read_results(tmp_path / "results" / name / "Base-model.csv")
    found = calarena.read_results(tmp_path / "results" / name / "calibrant-temperature.csv")
    assert set(found) == set(base) == {("a", "forest"), ("b", "forest")}
    test = rows(n_classes)
    occurred = calarena.as_table(test["probas_test"])[np.arange(20), test["labels_test"]]
    assert base["a", "forest"]["Base-model_logloss"] == pytest.approx(-np.log(occurred).mean())
    assert found["a", "forest"]["calibrant-temperature_logloss"] < base["a", "forest"]["Base-model_logloss"]


def test_rows_of_a_benchmark_are_read(tmp_path):
    h5py = pytest.importorskip("h5py", reason="the files of a benchmark are HDF5: install h5py")
    with h5py.File(tmp_path / "a-multiclass.h5", "w") as file:
        for array, values in rows(3).items():
            file[f"wine/forest/{array}"] = values
    for array, values in calarena.read_rows(tmp_path, "a-multiclass", ONE).items():
        np.testing.assert_array_equal(values, rows(3)[array])


# The page of a user's own table

RNG = np.random.default_rng(0)
P = RNG.random(400)
Y = (RNG.random(400) < P).astype(int)
SHARP = P**3 / (P**3 + (1 - P) ** 3)  # twice as extreme as it should be, in log-odds and more


def broken(y, prob, other):
    raise ZeroDivisionError


@pytest.fixture
def few(monkeypatch):
    """The forecast as it is, two calibrators, and one that fails."""
    known = methods(2, peers=False)
    chosen = {name: known[name] for name in (NONE, "temperature", "histogram-binning")} | {"broken": broken}
    monkeypatch.setattr(try_yours, "methods", lambda n_classes, peers: chosen)
    monkeypatch.setattr(try_yours, "warm_up", lambda: None)


def page_of(tmp_path, label, columns, *words):
    names = ",".join(["label", *columns])
    rows = [",".join(map(str, row)) for row in zip(label, *columns.values(), strict=True)]
    (tmp_path / "own.csv").write_text("\n".join([names, *rows]) + "\n")
    try_yours.main([str(tmp_path / "own.csv"), "--no-peers", "-o", str(tmp_path / "page.md"), *words])
    return (tmp_path / "page.md").read_text()


def lines_of(page):
    lines = [line.strip("| ").split(" | ") for line in page.splitlines() if line.startswith("| `")]
    return {line[0].strip("`"): line[1:] for line in lines}


@pytest.mark.usefixtures("few")
def test_an_overconfident_forecast_is_repaired_and_what_fails_is_a_row(tmp_path):
    page = page_of(tmp_path, Y, {"p": SHARP}, "--repeats", "1")
    found = lines_of(page)
    first, *others, last = found
    assert (first, last, set(others)) == ("temperature", "broken", {NONE, "histogram-binning"})
    assert float(found[others[0]][0]) <= float(found[others[1]][0])
    assert "**`temperature` has the lowest log loss" in page
    assert "fitted 5 times to 320 rows, and\nscored on the other 80" in page
    assert found["broken"][0] == "failed: ZeroDivisionError"
    assert float(found["temperature"][0]) == pytest.approx(-(Y * np.log(P) + (1 - Y) * np.log(1 - P)).mean(), abs=0.03)
    assert (found["temperature"][3], found[NONE][1]) == ("0%", "")


@pytest.mark.usefixtures("few")
def test_of_a_calibrated_forecast_no_method_is_said_to_be_better(tmp_path):
    page = page_of(tmp_path, Y, {"z": np.log(P / (1 - P))}, "--repeats", "2")
    assert "These rows show of no method" in page
    assert "fitted 10 times" in page


def test_the_interval_is_of_a_t_test_with_the_variance_of_folds_that_share_rows():
    gain = np.array([-0.3, -0.1, 0.1, -0.2, 0.0])
    wider = np.sqrt(1 + 5 / 4)  # a part of the fitted rows is tested: 1/n + n_test/n_train in place of 1/n
    mean, half = gain.mean(), stats.sem(gain) * wider * stats.t.ppf(0.975, 4)
    assert try_yours.interval(gain) == pytest.approx((mean - half, mean + half))


def test_the_lowest_of_those_that_are_surely_lower_is_named():
    losses = {NONE: [0.5] * 5, "wide": [0.1, 0.6, 0.1, 0.6, 0.1], "sure": [0.45, 0.44, 0.46, 0.45, 0.45]}
    lines = {name: [Line(name, one, 1, 1, 1, 1) for one in each] for name, each in losses.items()}
    verdict, _ = try_yours.table_of(lines)
    assert verdict.startswith("`sure` has the lowest log loss of those whose interval is below 0, 0.4500; the forecast")


def test_a_table_without_rows_of_a_class_and_a_file_that_is_not_there_are_refused_in_words(tmp_path, capsys):
    for label, words in (
        (np.where(np.arange(400) < 3, 1, 0), "each class must have 5 rows or more; got 1"),
        (np.full(400, 0), "got 1"),
    ):
        with pytest.raises(SystemExit) as ended:
            page_of(tmp_path, label, {"p": P})
        assert ended.value.code == 2
        assert words in capsys.readouterr().err
        assert not (tmp_path / "page.md").exists()
    with pytest.raises(SystemExit):
        try_yours.main([str(tmp_path / "none.csv")])
    assert "none.csv" in capsys.readouterr().err
