"""A file gives what it gave when it was written, and whatever a file says, it gives a sound calibrator or one clear refusal."""

import copy
import json
import random
import re
import time
import tracemalloc
from functools import reduce
from operator import getitem
from pathlib import Path

import numpy as np
import pytest

from calibrant._core.checksum import checksum_of
from calibrant._core.registry import entries
from calibrant.interop.save import annotated, from_document, to_document

FILE = Path(__file__).parents[1] / "interop" / "saved_calibrators.json"
SAVED = json.loads(FILE.read_text(encoding="utf-8"))
KINDS = ("calibrator", "notion", "binning", "simplex-binning")


def resigned(document):
    """The document with a checksum that fits."""
    body = {key: value for key, value in document.items() if key != "checksum"}
    return body | {"checksum": checksum_of(body)}


# Kept files


def test_a_file_of_every_registered_kind_is_kept():
    kept = {f"{kind} {name}" for kind in KINDS for name, entry in entries(kind).items() if is_ours(entry)}
    assert kept <= SAVED.keys(), "python -m tools.make_saved_calibrators"


def is_ours(entry):
    return entry.target.__module__.startswith("calibrant.")


@pytest.mark.parametrize("name", SAVED)
def test_a_kept_file_still_gives_what_it_gave_and_is_written_the_same(name):
    kept = SAVED[name]
    loaded = from_document(kept["document"])
    # Powers and logarithms of another platform may differ in the last digit.
    np.testing.assert_allclose(loaded.calibrate(kept["forecast"]), kept["prediction"], rtol=1e-12, atol=0.0)
    apart = dict.fromkeys(("library", "checksum"))
    assert to_document(loaded) | apart == kept["document"] | apart


def test_every_fitted_attribute_is_annotated():
    for name, entry in entries("calibrator").items():
        if is_ours(entry):
            kept = f"calibrator {name}"
            bare = SAVED[kept]["document"]["calibrator"]["fitted"].keys() - annotated(entry.target).keys()
            assert not bare, f"annotate the types of these fitted attributes of {name}: {sorted(bare)}"


def test_a_file_names_no_class_so_that_classes_may_be_renamed():
    classes = {e.target.__name__ for kind in KINDS for e in entries(kind).values()}
    written = json.dumps([kept["document"] for kept in SAVED.values()])
    assert set(re.findall(r'"(\w+)"', written)) & classes == set()


def test_an_unknown_word_is_refused_with_the_nearest_one():
    document = copy.deepcopy(SAVED["calibrator temperature"]["document"])
    document["calibrator"]["method"] = "temprature"
    with pytest.raises(ValueError, match=r"got 'temprature'\. Did you mean 'temperature'\?"):
        from_document(resigned(document))


# Whatever stands in a file

GONE = object()
EDITS = {
    "gone": GONE,
    "null": None,
    "true": True,
    "word": "x",
    "nan": float("nan"),
    "minus one": -1,
    "minus a half": -0.5,
    "two": 2.0,
    "tiny": 5e-324,
    "great": 1e308,
    "beyond floats": 10**400,
    "beyond memory": 10**15,
    "spelled nan": {"number": "nan"},
    "spelled infinity": {"number": "inf"},
    "spelled word": {"number": "x"},
    "empty list": [],
    "empty object": {},
    "list": [1, 2, 3],
    "deep": json.loads("[" * 70 + "]" * 70),
    "unknown": {"eval": "1"},
    "array": {"array": [0.5, 0.5, 0.5], "dtype": "float64"},
    "huge dtype": {"array": [0.5], "dtype": "S2000000000"},
    "objects": {"array": [0.5], "dtype": "O"},
    "no probability": {"array": [[2.0, -1.0]], "dtype": "float64"},
}
ARRAY_EDITS = {
    "emptied": lambda a: [],
    "shorter": lambda a: a[:-1],
    "longer": lambda a: [*a, *a[-1:]],
    "reversed": lambda a: a[::-1],
    "nested": lambda a: [a],
    "ragged": lambda a: [*a, [a]],
    "transposed": lambda a: (
        [list(row) for row in zip(*a, strict=True)] if a and isinstance(a[0], list) else [[v] for v in a]
    ),
    "equal": lambda a: [a[0]] * len(a) if a else a,
    "spread": lambda a: [v * 3 if isinstance(v, (int, float)) else v for v in a],
}


def places(node, path=()):
    """Where something can be changed: all of an object, the first and the last of a list."""
    if path:
        yield path
    if isinstance(node, dict):
        for key, part in node.items():
            yield from places(part, (*path, key))
    elif isinstance(node, list):
        for index in sorted({0, len(node) - 1} & set(range(len(node)))):
            yield from places(node[index], (*path, index))


def changed(document, path, edit):
    """The document with another value at a place."""
    new = copy.deepcopy(document)
    inside, last = reduce(getitem, path[:-1], new), path[-1]
    if edit is GONE:
        del inside[last]
    else:
        inside[last] = edit(inside[last]) if callable(edit) else copy.deepcopy(edit)
    return resigned(new)


def changes():
    """All changes of all kept files: its name, where and what."""
    for name, kept in SAVED.items():
        for path in places({k: v for k, v in kept["document"].items() if k != "checksum"}):
            value = reduce(getitem, path, kept["document"])
            for word, edit in EDITS.items():
                yield name, path, word, edit
            if isinstance(value, list):
                for word, edit in ARRAY_EDITS.items():
                    yield name, path, word, edit
            elif isinstance(value, dict):
                yield name, path, "something added", lambda d: d | {"more_": 1.0}


ALL = list(changes())


def rows_for(calibrator):
    """Forecasts of the kind that was fitted, ends of the range included."""
    k = len(calibrator.classes_)
    rows = np.vstack([np.eye(k)[[0, -1]], np.full((1, k), 1.0 / k), np.random.default_rng(0).dirichlet(np.ones(k), 6)])
    values = np.log(rows + 1e-9) if calibrator.input == "logit" else rows
    return values[:, 1] if calibrator.n_features_in_ == 1 else values


def fault_of(name, path, edit):
    """What is wrong with the answer to a changed file, or None."""
    tracemalloc.reset_peak()
    document, begun = changed(SAVED[name]["document"], path, edit), time.process_time()
    before, _ = tracemalloc.get_traced_memory()
    try:
        calibrator = from_document(document)
    except ValueError as error:
        message = str(error)
        if not re.search(r"must .*?; (got|it) .*\.", message, re.DOTALL) or len(message) > 1200:
            return f"unclear: {message}"
        return None
    finally:
        took, peak = time.process_time() - begun, tracemalloc.get_traced_memory()[1] - before
        assert took < 2.0, f"{name} {path}: {took} s"
        assert peak < 1_000_000, f"{name} {path}: {peak} bytes"
    with np.errstate(all="ignore"):
        prob = calibrator.predict_proba(rows_for(calibrator))
    sums = getattr(calibrator, "normalize", True)
    if not ((prob >= 0.0) & (prob <= 1.0)).all() or (sums and np.abs(prob.sum(axis=1) - 1.0).max() > 1e-8):
        return f"no probabilities: {prob.tolist()}"
    return None


def assert_sound(chosen):
    """Try changes; none may do harm."""
    for name in {name for name, *_ in chosen}:
        from_document(SAVED[name]["document"])  # what is imported for it is not counted
    tracemalloc.start()
    try:
        for name, path, word, edit in chosen:
            assert (fault := fault_of(name, path, edit)) is None, (name, path, word, fault)
    finally:
        tracemalloc.stop()


def test_a_changed_file_gives_a_sound_calibrator_or_one_clear_refusal():
    assert_sound(random.Random(17).sample(ALL, 600))


# What each fitted number may be

SHOWN = {
    "gradient_", "loss_", "left_out_", "degrees_of_freedom_", "candidate_loss_", "identity_loss_", "pooled_loss_",
    "standard_error_", "evidence_",
}  # fmt: skip
"""Certificates and losses, which a reader looks at and no prediction uses."""

SIGNED = {
    "coef_", "intercept_", "slope_", "c_", "quadratic a_", "quadratic b_", "deviation_", "cumulative_", "direction",
    "threshold", "gamma", "multiclass-irp gain_", "centre_", "knots_", "middle_", "ranks_", "shared_", "log_precision_",
}  # fmt: skip
"""Coefficients and places, of any sign."""

PROBABILITIES = {
    "left_", "right_", "value_", "edges_", "knot_", "score_", "lower_score_", "upper_score_", "lower_", "upper_", "weights_",
    "safe weight_", "enir weight_", "model_weight_", "node_value_", "softening_", "threshold_", "epsilon_", "uniform_",
    "floor_",
}  # fmt: skip
"""Scores, probabilities and shares: none is above one."""


def first_numbers(node, path=()):
    """The places of the numbers of a description, and of the first number of each array."""
    if isinstance(node, dict):
        for key, part in node.items():
            yield from first_numbers(part, (*path, key))
    elif isinstance(node, list) and node:
        yield from first_numbers(node[0], (*path, 0))
    elif isinstance(node, (int, float)) and not isinstance(node, bool):
        yield path


@pytest.mark.parametrize("name", [name for name in SAVED if name.startswith("calibrator ")])
def test_a_fitted_number_that_no_fit_gives_is_refused(name):
    document, method = SAVED[name]["document"], name.removeprefix("calibrator ")
    for path in first_numbers(document["calibrator"]["fitted"], ("calibrator", "fitted")):
        attribute = [key for key in path if isinstance(key, str) and key not in ("array", "number")][-1]
        words = {attribute, f"{method} {attribute}"}
        of_bins = method in ("histogram-binning", "top-label-binning")
        if words & SHOWN or (of_bins and attribute == "value_"):  # without a row a bin gives NaN
            continue
        edits = [float("nan")] + [-0.25] * (not words & SIGNED) + [1.25] * bool(words & PROBABILITIES)
        for edit in edits:
            value = {"number": "nan"} if edit != edit and not isinstance(path[-1], int) else edit
            with pytest.raises(ValueError, match=r"must .*; (got|it) "):
                from_document(changed(document, path, value))


@pytest.mark.deep
@pytest.mark.parametrize("name", SAVED)
def test_no_change_of_a_file_does_harm(name):
    assert_sound([change for change in ALL if change[0] == name])
