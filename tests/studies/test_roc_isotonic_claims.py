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
from studies.claims import Verdict
from studies.roc_isotonic import authors, exact, study
from studies.roc_isotonic.authors import SMOOTHING, FirstAgainstUnsmoothed, mixture, partitioning, total
from studies.roc_isotonic.claims import CLAIMS, READINGS, roc_against_hull, roc_corners, upper_hull

HOLDS, IN_PART, FAILS, MISPRINT, OPEN, NOT_JUDGED = Verdict

LOW, HIGH, UNCLEAR = [-0.1, -0.11, -0.09], [0.1, 0.11, 0.09], [-0.1, 0.1, 0.0]


def differences(**of):
    """Differences of each number of classes under each reading, low unless given."""
    return [[k, name, of.get(f"of_{i}", LOW)] for k in (2, 3) for i, name in enumerate(READINGS)]


def group(n, kept):
    """What was found of problems of n rows."""
    return {"n": n, "problems": 20, "monotone": 1000, "kept": kept, "tied": 0, "with_any": 1}


def volumes(after, kept):
    """Volumes of problems before, 0.5, and after; and of maps that keep the definition."""
    return {"six": [0.5, *after], "drawn": [[0.5, 0.5, 0.5, 0.5]] * 2, "kept": [[0.5, kept]], "paper": [], "four": []}


def surface(after=10, kept=5, outside=0.3, far=0.01):
    """500 points before, and what is found after."""
    return [500, after, kept, 0.9, 0.89, outside, far]


def gaps(own, same, end):
    """Gaps of three splits: of IRP and without monotony, and of binning."""
    return [[own + step, same, end, own, own] for step in (0.0, 0.001, 0.002)]


CASES = {
    "calibrated-on-its-rows": [({"gaps": [0.0, 1e-6]}, FAILS)],
    "roc-hull": [({"corners": [[9, 0], [7, 1]]}, FAILS)],
    "infinite-loss": [({"zeros": [0, 0], "smooth": 0.5}, FAILS)],
    "zero-error": [({"gaps": [0.1], "published": [0.0]}, FAILS)],
    "two-classes": [
        ({"same": [[False, False]] * 2, "blocks": [16], "grid_cuts": 15, "shared_cuts": 15}, FAILS),
        ({"same": [[True, True], [False, True]], "blocks": [16], "grid_cuts": 15, "shared_cuts": 15}, IN_PART),
    ],
    "too-restrictive": [
        ({"groups": [group(8, 3), group(12, 0), group(30, 0)]}, HOLDS),
        ({"groups": [group(12, 3), group(30, 0)]}, IN_PART),
        ({"groups": [group(12, 10), group(30, 0)]}, IN_PART),
        ({"groups": [group(12, 10), group(30, 10)]}, FAILS),
    ],
    "fewer-points": [({"surfaces": [surface(after=50), surface(after=51)]}, FAILS)],
    "points-belong": [
        ({"surfaces": [surface(after=50, kept=50)] * 2}, HOLDS),
        ({"surfaces": [surface(after=50, kept=50), surface(after=50, kept=49)]}, FAILS),
    ],
    "covers-surface": [
        ({"surfaces": [surface(outside=0.0, far=0.0)]}, HOLDS),
        ({"surfaces": [surface(outside=0.3, far=0.04)]}, OPEN),
        ({"surfaces": [surface(outside=0.0, far=0.0), surface(outside=0.3, far=0.06)]}, FAILS),
    ],
    "keeps-surface": [
        ({"drawn": [[9, 9, 0.5, 0.5]], "paper": [["a", 9, 9, 0.5, 0.5]]}, HOLDS),
        ({"drawn": [[9, 9, 0.5, 0.4]], "paper": [["a", 9, 9, 0.5, 0.5]]}, OPEN),
        ({"drawn": [[9, 9, 0.5, 0.5]], "paper": [["a", 9, 8, 0.5, 0.6]]}, FAILS),
    ],
    "volume-majorised": [
        (volumes(after=[0.5, 0.5, 0.5], kept=0.5), HOLDS),
        (volumes(after=[0.6, 0.6, 0.6], kept=0.5), IN_PART),
        (volumes(after=[0.5, 0.5, 0.5], kept=0.6), IN_PART),
        (volumes(after=[0.6, 0.6, 0.6], kept=0.6), FAILS),
        (volumes(after=[0.6, 0.6, 0.5], kept=0.6), OPEN),
    ],
    "exact-split": [
        ({"counts": [[8, 42], [12, 88]], "shares": {"a": [[1.0, 0.9, 0.5]]}}, HOLDS),
        ({"counts": [[8, 41], [12, 88]], "shares": {"a": [[1.0, 0.9, 0.5]]}}, FAILS),
        ({"counts": [[8, 42], [12, 88]], "shares": {"a": [[1.0, 1.001, 0.5]]}}, FAILS),
    ],
    "outside-the-simplex": [({"problems": [[88, 70, 0, 0.4, 0.5], [88, 88, 3, 0.5, 0.5]]}, FAILS)],
    "regularised-mean": [({"gaps": [[2, 0.0, 0.1], [3, 2e-6, 0.1]]}, FAILS)],
    **{
        f"figure-{n}": [
            ({"figures": [["loss", 0.5, 0.5000001, 5e-7], ["regions", 16, 16, 0.0]], "normalised": 0.6}, HOLDS),
            ({"figures": [["loss", 0.5, 0.5000001, 5e-7], ["regions", 16, 17, 0.0]], "normalised": 0.6}, FAILS),
        ]
        for n in (2, 4, 5)
    },
    "figure-5-as-printed": [({"ends": [[23, 0.6], [23, 0.6]], "splits": 9, "shared": 9}, HOLDS)],
    "sums-of-vectors": [({"sums": [1.0, 1.0], "losses": [[0.5, 0.5]] * 2}, HOLDS)],
    "lower-as-drawn": [({"losses": [[0.5, 0.4], [0.5, 0.51]]}, FAILS)],
    "lower-of-probabilities": [
        ({"differences": differences(), "elsewhere": [4, 6]}, HOLDS),
        ({"differences": differences(of_0=HIGH, of_1=HIGH, of_2=HIGH), "elsewhere": [4, 6]}, FAILS),
    ],
    "binning-over-fits": [
        ({"rises": [[HIGH, [0.0, 0.001, 0.0005]]] * 3}, FAILS),
        ({"rises": [[HIGH, [0.0, 0.004, 0.002]]] * 3}, OPEN),
    ],
    "monotony-prevents-over-fitting": [
        ({"rises": [[HIGH, [0.0] * 3]] * 3}, FAILS),
        ({"rises": [[[0.0] * 3, HIGH], [[0.0] * 3] * 2]}, OPEN),
        ({"rises": [[HIGH, [10.0 * one for one in HIGH]]]}, IN_PART),
    ],
    "stops-at-the-least": [
        ({"paper": [], "rises": [[0.0, 0.0], [0.0]]}, HOLDS),
        ({"paper": [], "rises": [[0.0, 0.0], [1e-4, 1e-4]]}, OPEN),
        ({"paper": [], "rises": [[0.0, 0.0], HIGH]}, FAILS),
    ],
    "fewer-bins": [
        ({"same": [["a", LOW]], "best": [["a", LOW]]}, HOLDS),
        ({"same": [["a", LOW]], "best": [["a", UNCLEAR]]}, OPEN),
        ({"same": [["a", HIGH]], "best": [["a", HIGH]]}, FAILS),
    ],
    "bin-efficiency": [
        ({"same": [["a", LOW], ["b", LOW]], "best": [["a", HIGH]]}, HOLDS),
        ({"same": [["a", LOW], ["b", UNCLEAR]], "best": [["a", LOW]]}, OPEN),
        ({"same": [["a", HIGH], ["b", HIGH]], "best": [["a", LOW]]}, FAILS),
    ],
    "monotony-lessens-the-gap": [
        ({"gaps": [gaps(-0.02, 0.5, 0.9)] * 2}, HOLDS),
        ({"gaps": [gaps(0.02, 0.5, 0.9)] * 2}, IN_PART),
        ({"gaps": [gaps(0.02, 0.01, 0.01)]}, FAILS),
    ],
}


def test_every_judge_has_cases():
    assert set(CASES) == {claim.key for claim in CLAIMS}


@pytest.mark.parametrize(
    ("key", "numbers", "verdict"), [(key, *case) for key, cases in CASES.items() for case in cases], ids=str
)
def test_a_verdict_follows_from_its_numbers(key, numbers, verdict):
    claim = next(claim for claim in CLAIMS if claim.key == key)
    assert claim.judge(**numbers) is verdict


# Theorem 2.1: the curve after against the hull before


@pytest.mark.parametrize("decimals", [15, 1], ids=["distinct", "ties"])
def test_of_isotonic_regression_alone_the_curve_is_the_hull_before(decimals):
    rng = np.random.default_rng(0)
    score = rng.random(200).round(decimals)
    y = (rng.random(200) < score).astype(int)
    maps = {"isotonic": y, "fitted on shuffled labels": rng.permutation(y), "fitted on the other class": 1 - y}
    fitted = {
        name: IsotonicCalibration(finite=None).fit(score, label).predict_proba(score) for name, label in maps.items()
    }
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
    assert exact.volume(y, p) == pytest.approx(
        reference.hull_volume(sorted(reference.all_points(p.tolist(), y, np.ones(6))))
    )


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
        expected.append(
            sum(len(m) * np.abs(s - label.mean(axis=0)).sum() for m, s in zip(of_side, smoothed, strict=True))
        )
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
