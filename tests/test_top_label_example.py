"""The worked example of the top-label paper, exactly; what implies what; and the page of the documentation that shows them."""

import re
from collections import defaultdict
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from strategies import tables

from calibrant import (
    calibration_error,
    classwise_calibration_error,
    expected_calibration_error,
    top_label_calibration_error,
)
from calibrant._core.border import as_problem
from calibrant.binning import SimplexUnique, Unique
from calibrant.datasets import load_top_label_example, load_two_patients
from calibrant.metrics import canonical_calibration_error
from calibrant.notions import SharedClassWise, as_notion

PAGE = (Path(__file__).resolve().parents[1] / "docs" / "notions.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", PAGE, flags=re.M | re.S)
EXACT = 1e-12
POINTS = load_top_label_example()
CLASSES = {"labels": [1, 2, 3, 4]}


def test_the_page_prints_what_it_shows(capsys):
    """A ``text`` block is all that the blocks before it print, since the last one."""
    namespace = {"__name__": "notions"}
    for language, block in BLOCKS:
        if language == "python":
            exec(compile(block, "notions.md", "exec"), namespace)
        else:
            assert language == "text"
            assert block == capsys.readouterr().out.rstrip("\n") + "\n"
    assert capsys.readouterr().out == ""


# The six points: panels (b) to (d) of the paper, a problem a line, scores and outcomes

PANELS = {
    "confidence": ["0.6 0.6 0.7 0.8 0.8 0.9 | 1 0 1 0 0 1"],
    "top-label": ["0.6 0.9 | 0 1", "0.7 | 1", "0.6 0.8 | 1 0", "0.8 | 0"],
    "class-wise": [
        "0.1 0.6 0.2 0.0 0.0 0.9 | 0 0 0 1 0 1",
        "0.0 0.0 0.7 0.1 0.1 0.1 | 0 0 1 0 0 0",
        "0.6 0.1 0.0 0.1 0.8 0.0 | 1 0 0 0 0 0",
        "0.3 0.3 0.1 0.8 0.1 0.0 | 0 1 0 0 1 0",
    ],
}


@pytest.mark.parametrize("notion", PANELS)
def test_a_notion_looks_at_the_data_of_its_printed_panel(notion):
    problems = as_notion(notion).split(as_problem(*POINTS, **CLASSES))
    found = [(binary.score.tolist(), binary.outcome.astype(int).tolist()) for binary in problems]
    halves = [panel.split("|") for panel in PANELS[notion]]
    assert found == [([float(s) for s in left.split()], [int(z) for z in right.split()]) for left, right in halves]


@pytest.mark.parametrize(
    ("metric", "figure"),
    [(expected_calibration_error, "11/30"), (top_label_calibration_error, "1/2"), (classwise_calibration_error, "1/4")],
)
def test_the_errors_of_the_six_points(metric, figure):
    assert metric(*POINTS, binning=Unique(), **CLASSES) == pytest.approx(float(Fraction(figure)), abs=EXACT)


def test_two_patients_are_calibrated_in_confidence_and_wrong_of_the_top_label():
    toy = load_two_patients()
    how = {"binning": Unique(), "labels": [1, 2]}
    assert expected_calibration_error(toy.y, toy.prob, notion="confidence", **how) == pytest.approx(0, abs=EXACT)
    assert top_label_calibration_error(toy.y, toy.prob, **how) == pytest.approx(0.4, abs=EXACT)


# What implies what

GROUPS = {"shared-class-wise": (0, 0, 1), "flattened": (0, 0, 0), "class-wise": (0, 1, 2)}
"""What is known of a class of three beside its probability."""


def conditions(notion, forecast):
    """What is known, and of which class something is said: by the definitions of the paper."""
    ranked = sorted(range(len(forecast)), key=lambda j: (-forecast[j], j))
    if notion == "canonical":
        return [((j, tuple(forecast)), j) for j in range(len(forecast))]
    if notion in GROUPS:
        return [((GROUPS[notion][j], forecast[j]), j) for j in range(len(forecast))]
    if notion in ("confidence", "top-label"):
        notion = {"confidence": "top-1-confidence", "top-label": "top-1-label"}[notion]
    _, k, what = notion.split("-")
    return [((rank, forecast[j], j if what == "label" else None), j) for rank, j in enumerate(ranked[: int(k)])]


def by_definition(notion, table):
    """Mean distance of event rates from probabilities, over what is known; of the whole forecast its sum over classes."""
    mass, off, said = defaultdict(Fraction), defaultdict(Fraction), 0
    for forecast, counts in table:
        for known, j in conditions(notion, forecast):
            total = sum(counts)
            mass[known] += total
            off[known] += counts[j] - total * Fraction(forecast[j], sum(forecast))
            said += total
    per_row = 1 if notion == "canonical" else said / sum(sum(counts) for _, counts in table)
    rows = sum(sum(counts) for _, counts in table)
    return sum(abs(gap) for gap in off.values()) / rows / Fraction(per_row)


@pytest.fixture(scope="module")
def page():
    """The names of the page, run without its output."""
    namespace = {"__name__": "notions", "print": lambda *args: None}
    exec("\n".join(block for language, block in BLOCKS if language == "python"), namespace)
    return namespace


def test_the_errors_of_the_examples_are_those_of_the_definitions(page):
    expected = {
        (n, notion): by_definition(notion, t) for n, t in page["EXAMPLES"].items() for notion in page["NOTIONS"]
    }
    assert page["errors"] == expected


ARROWS = {
    "canonical": ("top-3-label",),
    "top-3-label": ("class-wise", "top-3-confidence", "top-2-label"),
    "class-wise": ("shared-class-wise",),
    "shared-class-wise": ("flattened",),
    "flattened": (),
    "top-3-confidence": ("top-2-confidence", "flattened"),
    "top-2-label": ("top-2-confidence", "top-label"),
    "top-2-confidence": ("confidence",),
    "top-label": ("confidence",),
    "confidence": (),
}


def implied(notion):
    """The notion and whatever arrows lead to."""
    return {notion}.union(*(implied(other) for other in ARROWS[notion]))


@pytest.mark.parametrize("notion", ARROWS)
def test_every_implication_that_is_not_an_arrow_has_a_counterexample(page, notion):
    assert {other for other in page["NOTIONS"] if page["witness"](notion, other) == "yes"} == implied(notion)


def exactly(y, prob, notion, weight):
    return calibration_error(
        y, prob, notion=notion, binning=Unique(), sample_weight=weight, labels=range(prob.shape[1])
    )


def canonically(y, prob, weight):
    how = {"binning": SimplexUnique(), "distance": "l1"}
    return canonical_calibration_error(y, prob, sample_weight=weight, labels=range(prob.shape[1]), **how)


@given(tables())
def test_an_arrow_leads_to_an_error_that_is_no_larger(data):
    """Each with a bin for each value, as the mean of what is said of a row."""
    y, prob, weight = data
    n_classes = prob.shape[1]
    every = exactly(y, prob, f"top-{n_classes}-label", weight)
    assert every <= canonically(y, prob, weight) / n_classes + EXACT
    assert exactly(y, prob, "class-wise", weight) <= every + EXACT
    shared = exactly(y, prob, SharedClassWise([*range(n_classes - 1), 0]), weight)
    flattened = exactly(y, prob, "flattened", weight)
    assert flattened <= shared + EXACT
    assert shared <= exactly(y, prob, "class-wise", weight) + EXACT
    assert flattened <= exactly(y, prob, f"top-{n_classes}-confidence", weight) + EXACT
    for k in range(1, n_classes + 1):
        label, confidence = (exactly(y, prob, f"top-{k}-{word}", weight) for word in ("label", "confidence"))
        assert confidence <= label + EXACT
        if k < n_classes:
            assert k * label <= (k + 1) * exactly(y, prob, f"top-{k + 1}-label", weight) + EXACT
            assert k * confidence <= (k + 1) * exactly(y, prob, f"top-{k + 1}-confidence", weight) + EXACT
    assert exactly(y, prob, "top-1-label", weight) == exactly(y, prob, "top-label", weight)
    assert exactly(y, prob, "top-1-confidence", weight) == exactly(y, prob, "confidence", weight)


@given(tables())
def test_of_two_classes_top_label_class_wise_and_canonical_are_one(data):
    y, prob, weight = data
    # The complement of the first, to the last bit: else equal probabilities of one class stand beside others of the other.
    first = np.round(prob[:, 0] * 64) / 64
    two, occurred = np.column_stack([first, 1 - first]), np.minimum(y, 1)
    error = exactly(occurred, two, "top-label", weight)
    assert error == pytest.approx(exactly(occurred, two, "class-wise", weight), abs=EXACT)
    assert error == pytest.approx(canonically(occurred, two, weight) / 2, abs=EXACT)
    assert exactly(occurred, two, "confidence", weight) <= error + EXACT
