"""Verdicts on the paper on ROC-regularised isotonic regression: each judge on both sides, without data."""

from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest
from reference import multiclass_irp as twin
from reference import roc_surface as reference
from scipy.optimize import linprog

from calibrant import IsotonicCalibration
from calibrant.binning.cells import simplex_grid
from calibrant.fit.trees import Candidates, Rows
from studies.roc_isotonic import authors, exact, study
from studies.roc_isotonic.authors import SMOOTHING, FirstAgainstUnsmoothed, mixture, partitioning, total
from studies.roc_isotonic.claims import roc_against_hull, roc_corners, upper_hull

# Theorem 2.1: the curve after against the hull before


@pytest.mark.parametrize("decimals", [15, 1], ids=["distinct", "ties"])
def test_of_isotonic_regression_alone_the_curve_is_the_hull_before(decimals):
    rng = np.random.default_rng(0)
    score = rng.random(200).round(decimals)
    y = (rng.random(200) < score).astype(int)
    maps = {"isotonic": y, "fitted on shuffled labels": rng.permutation(y), "fitted on the other class": 1 - y}
    isotonic = {name: IsotonicCalibration(finite=None).fit(score, label) for name, label in maps.items()}
    fitted = {name: calibrator.predict_proba(score) for name, calibrator in isotonic.items()}
    fitted |= {"identity": np.column_stack([1 - score, score]), "constant": np.full((200, 2), 0.5)}
    for name, prob in fitted.items():
        corners, differ = roc_against_hull(y, score, prob[:, 1])
        assert (differ == 0) == (name == "isotonic"), name
        assert corners > 3


def test_the_hull_is_the_least_concave_curve_above_the_points():
    points = [(0, 0), (0, 2), (1, 2), (2, 3), (3, 4), (4, 4)]
    assert upper_hull(points) == [(0, 0), (0, 2), (3, 4), (4, 4)]
    assert roc_corners(np.array([1, 0, 1]), np.array([0.9, 0.5, 0.5])) == [(0, 0), (0, 1), (1, 2)]


# All splits of three classes, and Definition 3.2


@pytest.mark.parametrize("number", range(8))
def test_a_map_keeps_definition_3_2_where_every_way_to_part_its_vectors_parts_the_forecasts(number):
    """Against all ways to give rows sides, of numbers that are whole so that nothing is rounded."""
    rng = np.random.default_rng(number)
    whole = rng.multinomial(12, np.ones(3) / 3, 6)
    value = rng.multinomial(4, np.ones(3) / 3, 2 + number % 2)
    of = rng.integers(0, len(value), 6)
    of[: len(value)] = range(len(value))
    distinct = sorted(set(map(tuple, whole.tolist())))
    known = {tuple(of[distinct.index(tuple(row))] for row in whole.tolist()) for of in twin.all_splits(distinct)}
    vectors = sorted(set(map(tuple, value.tolist())))
    asked = {tuple(s[vectors.index(tuple(value[k].tolist()))] for k in of) for s in twin.all_splits(vectors)}
    assert exact.keeps_definition(exact.margins(whole / 12), of, value / 4) == (asked <= known)


def test_the_identity_keeps_definition_3_2_and_forecasts_that_are_exchanged_do_not():
    p, _ = exact.drawn(10, 0)
    margin, rows = exact.margins(p), np.arange(10)
    assert exact.keeps_definition(margin, rows, p)
    assert exact.keeps_definition(margin, rows, 0.5 * p + 0.5 / 3)
    assert not exact.keeps_definition(margin, rows, p[:, [1, 2, 0]])
    assert not exact.keeps_definition(margin, rows, p[::-1])
    constant = np.full((1, 3), 1 / 3)
    assert exact.keeps_definition(margin, np.zeros(10, dtype=int), constant)


def test_a_map_that_keeps_definition_3_2_has_no_new_point_and_one_that_is_only_monotone_at_its_splits_does():
    risen = [exact.before_and_after(*exact.drawn(*of)) for of in exact.SMALL[:10]]
    assert sum(after > before for before, after, *_ in risen) >= 5
    kept = exact.kept(12, 5)
    assert kept["kept"]
    assert all(after <= before + 1e-12 for before, after in kept["volumes"])


def test_six_rows_in_tenths_have_a_larger_volume_after():
    p, y = exact.SIX
    assert exact.before_and_after(p, y) == pytest.approx([4 / 9, 2 / 3, 2 / 3, 1 / 3], abs=1e-12)
    assert exact.fitted(p, y).n_regions_ == 3
    points = sorted(reference.all_points(p.tolist(), y, np.ones(6)))
    assert exact.volume(y, p) == pytest.approx(reference.hull_volume(points))


@pytest.mark.parametrize("number", range(3))
def test_volumes_are_those_of_all_points_of_the_surface(number):
    p, y = exact.drawn(6, number)
    points = reference.all_points(p.tolist(), y, np.ones(6))
    assert exact.volume(y, p) == pytest.approx(reference.hull_volume(sorted(points)))
    rows = {tuple(np.rint(np.array(point) * np.bincount(y)).astype(int)) for point in points}
    alone = {tuple(corner) for corner in np.diag(np.bincount(y))}
    assert rows - alone == exact.points(y, p) - alone
    corners = np.random.default_rng(0).random((20_000, 3))
    inside = (corners[:, None] <= np.array(sorted(points))[None]).all(axis=2).any(axis=1).mean()
    assert exact.volume_below(y, p) == pytest.approx(inside, abs=0.02)


def test_the_identity_keeps_every_point_and_a_constant_keeps_none_and_its_hull_is_small():
    p, y = exact.drawn(8, 0)
    n = len(exact.points(y, p))
    assert exact.surfaces(y, p, p)[:3] == [n, n, n]
    assert exact.surfaces(y, p, p)[5:] == pytest.approx([0.0, 0.0], abs=1e-9)
    _, after, kept, before, hull, outside, far = exact.surfaces(y, p, p[:, [1, 2, 0]])
    assert kept < after
    assert hull < before
    assert outside > 0.0
    assert far > 0.1


def test_growth_without_monotony_goes_on_until_all_rows_of_a_region_are_alike(monkeypatch):
    p, y = exact.drawn(25, 1)
    same = authors.Forecasts(p, y, p[::-1], y[::-1])
    monkeypatch.setattr(authors, "covertype", SimpleNamespace(__wrapped__=lambda *_, **__: same))
    own, binned, free = study._of_split(3, 0)
    assert free.fitted[-1] == pytest.approx(-np.log(1.0 - mixture(3) * 2.0 / 3.0))
    assert own.n_regions[-1] < free.n_regions[-1]
    assert own.fitted[-1] > free.fitted[-1]
    assert own.volume[5] <= 1.0
    for course in (own, binned, free):
        assert course.gap() == pytest.approx(0.0, abs=1e-12)
        assert course.gap(1) == pytest.approx(course.loss[0] - course.fitted[0])


@pytest.mark.parametrize("number", range(3))
def test_sides_are_those_of_a_point_where_no_cycle_of_classes_is_negative_or_zero(number):
    whole = np.random.default_rng(number).multinomial(10, np.ones(3) / 3, 5)
    rows = whole.tolist()
    for side in product(range(3), repeat=5):
        assert exact.is_split(exact.margins(whole / 10), np.array(side)) == reference.can_be_parted(rows, side)


@pytest.mark.parametrize("number", range(2))
def test_a_split_meets_the_simplex_where_a_linear_program_finds_a_point_of_it(number):
    p, _ = exact.drawn(8, number)
    margin, met = exact.margins(p), []
    for side in [(p - gamma).argmax(axis=1) for gamma in exact.all_splits(p)] + [np.full(8, k) for k in range(3)]:
        pairs = [(i, k, j) for i, k in enumerate(side) for j in range(3) if j != k]
        left = [np.eye(3)[k] - np.eye(3)[j] for _, k, j in pairs]
        found = linprog(np.zeros(3), left, [margin[of] for of in pairs], [[1.0] * 3], [1.0], bounds=(0.0, None))
        met.append(found.status == 0)
        assert exact.meets_simplex(margin, side) == met[-1]
    assert 0 < sum(met) < len(met)


def test_the_mean_of_the_regularised_cross_entropy_is_divided_by_the_sum_and_not_by_one_class():
    for n_classes in (2, 3, 4):
        proper, published = exact.regularised(n_classes, 0)
        assert proper < 1e-6 < 0.01 < published


# The first split of the published code


def drawn_rows(n=60, n_classes=4, seed=3):
    rng = np.random.default_rng(seed)
    prob = rng.dirichlet(np.ones(n_classes), n)
    return Rows(prob, np.array([rng.choice(n_classes, p=row) for row in prob]), np.ones(n))


def test_the_first_split_compares_smoothed_means_of_the_sides_with_the_unsmoothed_mean_of_all_rows():
    rows, grid = drawn_rows(), simplex_grid(4, 5)
    label = np.eye(4)[rows.label]
    expected = []
    for gamma in grid:
        side = (rows.prob - gamma).argmax(axis=1)
        of_side = [label[side == k] for k in range(4) if (side == k).any()]
        smoothed = [(mine.mean(axis=0) + SMOOTHING) / (1 + SMOOTHING) for mine in of_side]
        gains = (len(m) * np.abs(s - label.mean(axis=0)).sum() for m, s in zip(of_side, smoothed, strict=True))
        expected.append(sum(gains))
    found = FirstAgainstUnsmoothed(grid).of_simplex(rows)
    np.testing.assert_allclose(found.gain, expected, rtol=1e-12)


def test_the_published_first_split_can_be_another_than_that_of_algorithm_2_as_printed():
    grid = simplex_grid(4, 5)
    rows = [drawn_rows(seed=seed) for seed in range(20)]
    published = [FirstAgainstUnsmoothed(grid).of_simplex(of).gain.argmax() for of in rows]
    printed = [Candidates(grid).of_simplex(of).gain.argmax() for of in rows]
    assert published != printed


def first_gamma(rows, **options):
    return partitioning(4, steps=5, **options).fit(rows.prob, rows.label).tree_.gamma[0].tolist()


def test_a_fit_as_published_begins_with_the_published_split_and_one_as_printed_does_not():
    rows = [drawn_rows(n=300, seed=seed) for seed in range(10)]
    grid = simplex_grid(4, 5)
    best = [grid[FirstAgainstUnsmoothed(grid).of_simplex(of).gain.argmax()].tolist() for of in rows]
    assert [first_gamma(of) for of in rows] == best
    assert [first_gamma(of, printed=True) for of in rows] != best


def test_the_vectors_of_the_authors_are_a_constant_times_a_mixture():
    mean = np.array([0.7, 0.2, 0.1])
    theirs = (mean + SMOOTHING) / (1 + SMOOTHING)
    part = mixture(3)
    np.testing.assert_allclose(theirs, total(3) * ((1 - part) * mean + part / 3), rtol=1e-14)
    rows = drawn_rows(n_classes=3)
    fitted = partitioning(3, steps=10).fit(rows.prob, rows.label)
    np.testing.assert_allclose(fitted.value_.sum(axis=1), 1.0, rtol=1e-12)
