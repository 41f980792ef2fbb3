"""What bins are worth: variance within them, and where event rates decrease."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import bounded_isotonic as reference
from strategies import columns, tables

from calibrant import EqualMass, EqualWidth
from calibrant._core.border import as_problem
from calibrant.binning import BoundedIsotonic, Isotonic, Unique
from calibrant.curves.errors import binning_quality
from calibrant.notions import binary_problems

binnings = st.sampled_from([EqualWidth(4), EqualMass(3), Isotonic(), BoundedIsotonic(2, 6), Unique()])
BOTH = {"labels": [0, 1]}
FIGURES = ("criterion", "within_bin_error")


def held_outcomes(rows, binning):
    """Outcomes of each bin that holds rows, each as often as its weight says."""
    label, score, weight = rows
    bins = binning(as_problem(label, score, sample_weight=weight, **BOTH))
    at = np.repeat(bins.index(score), weight.astype(int))
    repeated = np.repeat(label, weight.astype(int))
    return [repeated[at == b].tolist() for b in range(len(bins)) if (at == b).any()]


@given(rows=columns(), binning=binnings)
def test_the_criterion_is_that_of_the_definition(rows, binning):
    held = held_outcomes(rows, binning)
    expected = reference.criterion([y for block in held for y in block], [len(block) for block in held])
    found = binning_quality(rows[0], rows[1], sample_weight=rows[2], binning=binning, **BOTH)
    assert found.criterion == pytest.approx(float(expected), abs=1e-12)


@given(rows=columns(), binning=binnings)
def test_the_within_bin_error_counts_each_bin_once(rows, binning):
    held = held_outcomes(rows, binning)
    expected = sum(reference.spread(block) / len(block) for block in held) / len(held)
    found = binning_quality(rows[0], rows[1], sample_weight=rows[2], binning=binning, **BOTH)
    assert found.within_bin_error == pytest.approx(float(expected), abs=1e-12)


@given(table=tables(), binning=binnings, notion=st.sampled_from(["confidence", "class-wise", "top-label"]))
def test_the_criterion_of_a_notion_is_the_mean_over_its_problems(table, binning, notion):
    label, prob, weight = table
    options = {"sample_weight": weight, "labels": range(prob.shape[1])}
    quality = binning_quality(label, prob, binning=binning, notion=notion, **options)
    problems = [one for one in binary_problems(label, prob, notion=notion, **options) if one.size]
    each = [
        binning_quality(one.outcome, one.score, sample_weight=one.weight, binning=binning, **BOTH) for one in problems
    ]
    means = [sum(one.share * getattr(of, word) for one, of in zip(problems, each, strict=True)) for word in FIGURES]
    assert [quality.criterion, quality.within_bin_error] == pytest.approx(means, abs=1e-12)
    assert 0.0 <= quality.criterion <= 0.25 + 1e-12


@given(rows=columns())
def test_isotonic_bins_violate_nothing_and_none_of_the_same_order_is_better(rows):
    label, score, weight = rows
    options = {"sample_weight": weight, **BOTH}
    best = binning_quality(label, score, binning=Isotonic(), **options)
    assert (best.n_violations, best.largest_violation) == (0, 0.0)
    for other in (EqualMass(3), EqualWidth(3), BoundedIsotonic(2, 6)):
        quality = binning_quality(label, score, binning=other, **options)
        assert quality.n_violations > 0 or quality.criterion >= best.criterion - 1e-12


# Violations


def test_violations_are_counted_and_measured():
    label, score = [0, 1, 1, 1, 0, 1, 0, 0], np.arange(1, 9) / 10
    quality = binning_quality(label, score, binning=EqualMass(4))
    assert [panel.drop.tolist() for panel in quality.panels] == [[0.0, 0.0, 0.5, 0.5]]
    assert (quality.n_violations, quality.largest_violation) == (2, 0.5)


def test_a_bin_without_rows_lies_between_and_counts_for_nothing():
    quality = binning_quality([1, 1, 0, 1], [0.05, 0.15, 0.95, 0.95], binning=10)
    panel = quality.panels[0]
    assert quality.n_bins == 3
    assert panel.drop[[0, 1, 9]].tolist() == [0.0, 0.0, 0.5]
    assert np.isnan(panel.drop[2:9]).all()
    assert (quality.smallest, quality.largest) == (1, 2)


# The result


@pytest.mark.parametrize(
    ("binning", "published"),
    [(BoundedIsotonic(), 0.011689), (Isotonic(), 0.010084), (EqualMass(10), 0.020570), (EqualWidth(10), 0.010311)],
)
def test_the_criterion_of_alexnet_is_the_figure_that_was_written_down(data_dir, binning, published):
    with np.load(data_dir / "imagenet_dogs.npz") as data:
        assert binning_quality(data["y"], data["alexnet"], binning=binning).criterion == pytest.approx(
            published, abs=5e-7
        )
