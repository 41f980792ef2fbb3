"""The arena runs what is not there, goes on after a stop, and ends fits that take too long."""

import time

import numpy as np
import pytest
from sklearn.isotonic import IsotonicRegression

from studies.arena import cells
from studies.arena.cells import (
    DEFAULT,
    NONE,
    TOO_SLOW,
    Cell,
    Line,
    forget,
    has_rows,
    measured,
    methods,
    plan,
    read,
    refinement,
    run,
    scores,
    split,
)
from studies.arena.data_sets import DESIGN, PARTS, data_sets
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
    assert forget({"sms"}, arena["results"]) == 1
    assert set(read(arena["results"] / cell.path)) == TWO - {"sms"}
    assert forget({"sms"}, arena["results"]) == 0
    assert run(cell, TWO, peers=False, **arena) == 1
    assert [line.split(",")[:5] for line in sorted((arena["results"] / cell.path).read_text().split())] == [
        line.split(",")[:5] for line in sorted(before.split())
    ]


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


@pytest.mark.parametrize(
    ("broken", "note"),
    [
        (lambda y, prob, other: 1 / 0, "failed: ZeroDivisionError"),
        (lambda y, prob, other: np.full_like(other, np.nan), "failed: no probabilities"),
        (lambda y, prob, other: other[:, :1], "failed: no probabilities"),
    ],
)
def test_a_method_that_fails_is_a_line_with_a_note(broken, note):
    one = (np.array([0, 1]), np.full((2, 2), 0.5))
    line = measured("a", broken, one, one)
    assert line.note == note
    assert np.isnan(line.logloss)


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
    assert {line.method: line.note for line in read(arena["results"] / cell.path).values()} == {
        "sms": "failed: ImportError"
    }


def test_refinement_is_the_brier_score_after_the_best_monotone_map_of_each_class():
    y = np.array([0, 1, 0, 1])
    right, wrong = np.array([0.2, 0.9, 0.1, 0.6]), np.array([0.4, 0.3, 0.2, 0.1])
    assert refinement(y, np.column_stack([1 - right, right])) == 0.0
    assert refinement(y, np.full((4, 2), 0.5)) == pytest.approx(2 * 0.25)
    assert refinement(y, np.column_stack([1 - wrong, wrong])) == pytest.approx(scores(y, _best(y, wrong))["brier"])
    squashed = right**2
    assert refinement(y, np.column_stack([1 - squashed, squashed])) == 0.0


def _best(y, event):
    """Isotonic regression by scikit-learn."""
    fitted = IsotonicRegression().fit_transform(event, y)
    return np.column_stack([1 - fitted, fitted])


def test_rows_to_calibrate_on_and_to_test_never_meet():
    fit, test = split(Cell("a", "b", 300, 3), 20_000)
    assert len(fit) == 300
    assert len(test) == 5000
    assert not set(fit) & set(test)
    assert [n for n in (149, 150, 12_499, 12_500) if has_rows(n, 100)] == [150, 12_499, 12_500]
    assert [n for n in (12_499, 12_500) if has_rows(n, 10_000)] == [12_500]


def test_a_stop_leaves_a_balanced_table():
    order = [(cell.draw, cell.rows) for cell in plan([("a", "x"), ("b", "x")], rows_of=lambda *_: 13_000)]
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
    from calibrant.registry import entries

    assert set(entries("calibrator")) | {NONE, DEFAULT} == set(methods(3, peers=False))
