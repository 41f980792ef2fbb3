"""Write the figures of today, and compare those of a rebuilt library with them.

    python -m tools.golden write [FILE]           # before the inside of the library is rebuilt
    python -m tools.golden compare [FILE [OTHER]] # afterwards: computes them again, or reads OTHER, and lists what changed

FILE is build/golden.json.gz by default. `make golden` writes it where it does not exist, and compares where it does. Only
public names are called: PYTHONPATH=TREE/src python -m tools.golden compare FILE runs on a tree whose private modules differ.

A figure that differs between two seeds is drawn, and not compared. Every other number must agree to 1e-10. The exit code is 1
where a value, or the kind of a message, changed; texts of messages are listed. The command line is not called.
"""

from __future__ import annotations

import argparse
import dataclasses
import gzip
import inspect
import json
import re
import sys
import tempfile
import time
import warnings
import zlib
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import calibrant
from calibrant.registry import entries

FILE = Path("build/golden.json.gz")
RELATIVE, ABSOLUTE = 1e-10, 1e-12
KEPT = 40
"""Entries of a long array that are stored one by one; two sums stand for all."""
DRAWS = 200
NUMBER = re.compile(r"(?<![\w.])[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?(?!\w)", re.IGNORECASE)

SLOW = (
    "monte-carlo", "every metric", "problems notion=top-k-label", "error binning=unique", "error binning=Cross",
    "error binning=Monotonic", "recursive-split", "advise",
    *(f"calibrator {name}" for name in ("bbq", "cdf", "enir", "evidence", "ir", "multiclass", "na-", "safe", "scir", "near")),
)  # fmt: skip
"""Words in the names of calls that are made on few of the problems."""
CALIBRATORS = {"multiclass-irp": {"max_regions": 4}}
ALTERNATIVES: dict[str, dict[str, tuple[Any, ...]]] = {
    "expected_calibration_error": {"binning": (1, 4, calibrant.binning.EqualMass(7))},
    "calibration_error": {"loss": ("squared gap", "mid-p test"), "norm": ("l2", "max"), "across": ("max",)},
    "estimate_calibration_error": {"norm": ("l2",), "level": (0.2,)},
    "kernel_calibration_error": {"estimator": ("biased", "block")},
    "murphy_decomposition": {"binning": (5,)},
    "corp_decomposition": {"score": ("log",)},
    "calibration_refinement": {"score": ("log",)},
    "cox_test": {"parameters": ("slope", "intercept")},
    "kernel_test": {"null": ("bootstrap",), "estimator": ("linear",)},
    "bin_test_calibration_error": {"test": ("mid-p", "t")},
    "resampling_test": {"metric": ("ece", "nll")},
    "paired_test": {"metric": ("nll",)},
    "reliability_curve": {"interval": ("clopper-pearson", "consistency")},
    "smooth_reliability_curve": {"smoother": ("local",)},
    "corp_curve": {"band": ("confidence", "simultaneous")},
    "volume_under_surface_score": {"method": ("probability", "monte-carlo")},
    "estimate_prior": {"method": ("bbse-soft",)},
}
"""Options that are called one at a time, besides each notion and binning of the first two and of curves."""
EVERY_NOTION = ("calibration_error", "binary_problems", "reliability_curve")
EVERY_BINNING = ("calibration_error", "estimate_calibration_error", "reliability_curve", "binning_quality")
VARIANTS = (
    "plain",
    "ties",
    "decimals",
    "counts",
    "fractions",
    "logits",
    "float32",
    "words",
    "one class",
    "extreme",
    "percent",
)
Problem = dict[str, Any]


class Seed:
    """A seed that knows whether it was asked for: figures of a call that did not ask are not drawn."""

    def __init__(self, number: int) -> None:
        self.number, self.was_asked = number, False

    def __call__(self) -> int:
        self.was_asked = True
        return self.number


Calls = Iterator[tuple[str, Callable[[Seed], Any]]]


# Problems


def problem(n: int, k: int, variant: str = "plain") -> Problem:
    """Draw rows; ``k`` is 1 for one column of probabilities of the event."""
    rng = np.random.default_rng(zlib.crc32(f"{n} {k} {variant}".encode()))
    logits = 2.0 * rng.normal(size=(n, max(k, 2)))
    noise = rng.gumbel(size=logits.shape)
    y = np.argmax(logits / 1.5 + noise, axis=1)
    data: dict[str, Any] = {}
    p = np.exp(logits - logits.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    if variant in ("ties", "decimals"):
        p = p.round(1 if variant == "ties" else 3)
        p /= p.sum(axis=1, keepdims=True)
    if variant == "extreme":
        p[::3] = np.eye(p.shape[1])[rng.integers(0, p.shape[1], len(p[::3]))]
    if variant == "one class":
        y[:] = p.shape[1] - 1
    if variant == "counts":
        data["sample_weight"] = rng.integers(0, 4, n)
    if variant == "fractions":
        data["sample_weight"] = rng.exponential(size=n)
    if variant == "percent":
        p, data["rows"] = 100.0 * p, "percent"
    if variant == "normalize":
        p, data["rows"] = p * rng.uniform(1, 3, (n, 1)), "normalize"
    if variant == "logits":
        p, data["input"] = logits if k > 1 else logits[:, 1:] - logits[:, :1], "logit"
    if variant == "float32":
        p = p.astype(np.float32)
    if k == 1:
        p = p[:, -1]
    if variant in ("words", "one class"):
        words = np.array([f"class {j:03}" for j in range(max(k, 2))])
        y, data["labels"] = words[y], words.tolist()
        data |= {"pos_label": words[1]} if k == 1 else {}
    elif k > 1:
        data["labels"] = list(range(k))
    return {"y_true": y, "y_prob": p, "data": data, "k": k, "n": n, "variant": variant}


def problems() -> dict[str, Problem]:
    """Return all problems by name."""
    shapes = [
        *((n, k, v) for n, k in ((60, 1), (400, 1), (45, 3), (300, 3)) for v in VARIANTS),
        *((n, k, "plain") for n, k in ((1, 1), (2, 1), (9, 1), (2000, 1), (1, 3), (8, 3), (2000, 3), (80, 2), (80, 4))),
        *((30, 10, "plain"), (500, 10, "logits"), (500, 10, "ties"), (300, 10, "counts"), (300, 10, "words")),
        *((200, 100, "plain"), (150, 100, "float32"), (80, 2, "words"), (80, 3, "normalize"), (120, 5, "fractions")),
    ]
    return {f"{n} rows of {k} columns, {variant}": problem(n, k, variant) for n, k, variant in shapes}


# Calls


def calls(of: Problem) -> Calls:
    """Yield the name of each call on a problem, and a function of the seed."""
    functions = {name: entry.target for name, entry in entries("metric").items()}
    for module in ("assessment", "metrics", "significance", "curves", "decisions"):
        place = getattr(calibrant, module)
        public = {
            name: getattr(place, name) for name in place.__all__ if name != "scorer" and not name.startswith("plot_")
        }
        functions |= {name: function for name, function in public.items() if inspect.isfunction(function)}
    functions["binary_problems"] = calibrant.notions.binary_problems
    for name, function in functions.items():
        options = {option: list(values) for option, values in ALTERNATIVES.get(name, {}).items()}
        if name in EVERY_NOTION:
            options.setdefault("notion", []).extend(entries("notion"))
        if name in EVERY_BINNING:
            options.setdefault("binning", []).extend(entry.target() for entry in entries("binning").values())
        if name.endswith("canonical_calibration_error"):
            options["binning"] = list(entries("simplex-binning"))
        yield name, partial(made, function, of, {})
        for option, values in options.items():
            for value in values:
                yield f"{name} {option}={value}", partial(made, function, of, {option: value})
    every = {"metrics": list(entries("metric"))}
    yield "assess every metric", partial(made, calibrant.assess, of, every)
    yield "measure every metric", partial(made, calibrant.measure, of, every)
    for name in (
        "assess",
        "measure",
        "corp_curve",
        "reliability_curve",
        "resampling_test",
        "roc_curve",
        *entries("metric"),
    ):
        yield f"{name} in batches", partial(made, functions[name], of, {"in batches": True})
    for name, entry in entries("calibrator").items():
        yield f"calibrator {name}", partial(calibrated, partial(entry.target, **CALIBRATORS.get(name, {})), of)
    for name in entries("notion"):
        by = partial(calibrant.ByNotion, calibrant.PlattScaling(), name)
        yield f"calibrator platt by {name}", partial(calibrated, by, of)


def made(function: Callable[..., Any], of: Problem, options: Mapping[str, Any], seed: Seed) -> Any:
    """Call a public function with what its signature asks for."""
    p, n, k, data = of["y_prob"], of["n"], max(of["k"], 2), of["data"]
    scale = 1.0 if data.get("input") == "logit" else 0.9
    usual = calibrant.PlattScaling if k == 2 else calibrant.TemperatureScaling
    for_curve = {
        "cumulative_calibration_map": partial(calibrant.SortedCumulativeIsotonic, epsilon=0.01),
        "partition_path": partial(calibrant.calibrators.MulticlassRecursivePartitioning, max_regions=4),
        "simplex_partition": partial(calibrant.calibrators.MulticlassRecursivePartitioning, max_regions=4),
    }
    given: dict[str, Callable[[], Any]] = {
        "prob_a": lambda: p,
        "prob_b": lambda: scale * p + (1 - scale) * p.mean(axis=0),
        "calibrated": lambda: fitted(calibrant.PlattScaling, of).predict_proba(p)[:, -of["k"] :].reshape(p.shape),
        "calibrator": lambda: fitted(for_curve.get(function.__name__, usual), of),
        "test": lambda: calibrant.spiegelhalter_test,
        "groups": lambda: np.arange(n) % 2,
        "posterior": lambda: p,
        "cost_matrix": lambda: 3.0 * (1.0 - np.eye(k)) + np.arange(k),
        "cost_false_positive": lambda: 1.0,
        "cost_false_negative": lambda: 4.0,
        "old_prior": lambda: np.full(k, 1 / k),
        "old_prob": lambda: p,
        "old_true": lambda: of["y_true"],
        "new_prior": lambda: np.arange(1, k + 1) / (k * (k + 1) / 2),
        "class_weight": lambda: list(range(1, k + 1)),
        "kept": lambda: [0.5] + [1.0] * (k - 1),
        "gamma": lambda: [0.2, 0.3, 0.5],
    }
    parameters = inspect.signature(function).parameters
    asked = {name for name, parameter in parameters.items() if parameter.default is parameter.empty}
    asked |= {"old_true", "old_prob"}
    chosen: dict[str, Any] = {name: give() for name, give in given.items() if name in asked and name in parameters}
    chosen |= {name: of[name] for name in ("y_true", "y_prob") if name in parameters}
    takes_all = any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values())
    chosen |= {name: value for name, value in data.items() if takes_all or name in parameters}
    chosen |= {"rng": seed()} if "rng" in parameters else {}
    if isinstance(getattr(parameters.get("n_resamples"), "default", None), int):
        chosen["n_resamples"] = DRAWS
    if "in batches" in options:
        chosen |= {"y_true": in_batches(of), "y_prob": None}
        return function(**{name: value for name, value in chosen.items() if name != "y_prob" and name not in data})
    return function(**chosen | dict(options))


def in_batches(of: Problem) -> Any:
    """Return the rows as predictions that are read in batches of seven."""
    data = {name: value for name, value in of["data"].items() if name != "sample_weight"}
    columns = [of["y_true"], of["y_prob"], *(value for name, value in of["data"].items() if name == "sample_weight")]
    cuts = range(0, of["n"], max(7, of["n"] // 20))
    return calibrant.predictions(
        lambda: (tuple(column[cut : cut + cuts.step] for column in columns) for cut in cuts), **data
    )


def fitted(make: Callable[[], Any], of: Problem, seed: Seed | None = None) -> Any:
    """Fit a calibrator; one of a single score by its notion where there are more."""
    calibrator = make()
    if isinstance(calibrator, calibrant.calibrators.BinaryCalibrator) and of["k"] > 2:
        calibrator = calibrant.ByNotion(calibrator)
    options = {"input": of["data"].get("input", "probability"), "labels": of["data"].get("labels")}
    known = calibrator.get_params()
    options |= {"random_state": seed()} if seed and "random_state" in known else {}
    calibrator.set_params(**{name: value for name, value in options.items() if name in known})
    return calibrator.fit(of["y_prob"], of["y_true"], of["data"].get("sample_weight"))


def calibrated(make: Callable[[], Any], of: Problem, seed: Seed) -> dict[str, Any]:
    """Fit a calibrator, save it, load it, and calibrate other rows."""
    calibrator, new = (
        fitted(make, of, seed),
        problem(25, of["k"], "logits" if "input" in of["data"] else "extreme")["y_prob"],
    )
    with tempfile.TemporaryDirectory() as folder:
        calibrant.save_calibrator(calibrator, f"{folder}/saved.json")
        loaded = calibrant.load_calibrator(f"{folder}/saved.json")
        saved = json.loads(Path(folder, "saved.json").read_text(encoding="utf-8"))
    own = calibrator.predict_proba(of["y_prob"])
    return {
        "text": repr(calibrator),
        "new": calibrator.predict_proba(new),
        "loaded": loaded.predict_proba(new),
        "own": own,
    } | {"names in the file": sorted(saved)}


# Figures


def figures(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the numbers and words of a result, each with its path."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (bool, int)):
        yield path, value
    elif isinstance(value, float):
        yield path, float(value)
    elif isinstance(value, str):
        yield path, NUMBER.sub("#", re.sub(r"0x[0-9a-f]{6,}", "...", value))
    elif isinstance(value, (list, tuple)) and len(value) > KEPT and all(isinstance(part, str) for part in value):
        yield from figures(" ".join(value), path)
    elif isinstance(value, np.ndarray) and value.dtype.kind in "fiub" and value.size > KEPT:
        flat, place = value.astype(float).ravel(), np.linspace(0, value.size - 1, KEPT).astype(int)
        known = np.nan_to_num(flat, posinf=1e3, neginf=-1e3)
        yield f"{path} shape", str(value.shape)
        yield f"{path} sum", float(known.sum())
        yield f"{path} sum by place", float(known @ np.linspace(0, 1, flat.size))
        yield from ((f"{path}[{i}]", float(flat[i])) for i in place)
    elif hasattr(value, "to_dict") and hasattr(value, "columns"):  # a data frame
        for name in value.columns:
            yield from figures(np.asarray(value[name]), f"{path}.{name}")
    elif isinstance(value, Mapping):
        for key, part in value.items():
            yield from figures(part, f"{path}.{key}")
    elif isinstance(value, np.ndarray):
        yield from figures(value.ravel().tolist(), path)
    elif isinstance(value, (list, tuple)) and len(value) > KEPT and all(type(part) in (int, float) for part in value):
        yield from figures(np.array(value), path)
    elif isinstance(value, (list, tuple)):
        yield f"{path} length", len(value)
        for i in sorted({*np.linspace(0, len(value) - 1, KEPT).astype(int).tolist()} if value else ()):
            yield from figures(value[i], f"{path}[{i}]")
    else:
        yield from figures(repr(value), f"{path} text")
        if hasattr(value, "to_frame"):
            yield from figures(value.to_frame(), f"{path} frame")
        if dataclasses.is_dataclass(value):
            own = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
            plain = (str, int, float, np.ndarray, np.generic, *(() if hasattr(value, "to_frame") else (object,)))
            yield from figures({k: v for k, v in own.items() if k[0] != "_" and isinstance(v, plain)}, path)


def answer(call: Callable[[Seed], Any], seed: Seed) -> tuple[dict[str, Any], list[list[str]]]:
    """Return the figures of a call, and the kinds and texts of its warnings and its error."""
    messages = []
    found: dict[str, Any] = {}
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            found = dict(figures(call(seed)))
        except Exception as error:
            messages.append([f"refused with {type(error).__name__}", str(error)])
    heard = {(one.category.__name__, str(one.message)) for one in said}
    return found, messages + [[kind, text] for kind, text in sorted(heard) if not kind.startswith("Numba")]


def recorded(call: Callable[[Seed], Any]) -> dict[str, Any]:
    """Return what is stored of a call: its figures, those of another seed that differ, and its messages."""
    since, seed = time.perf_counter(), Seed(0)
    found, messages = answer(call, seed)
    again = answer(call, Seed(1))[0] if seed.was_asked else {}
    drawn = {path: again.get(path) for path, one in found.items() if again and not same(one, again.get(path))}
    return {"figures": found, "drawn": drawn, "messages": messages, "seconds": time.perf_counter() - since}


def computed(only: str = "") -> dict[str, Any]:
    """Compute all calls whose names contain a word."""
    done: dict[str, Any] = {}
    every = (
        (name, of["n"] > 80 or of["k"] > 4 or of["variant"] not in VARIANTS[:2], calls(of))
        for name, of in problems().items()
    )
    for place, is_quick, its_calls in every:
        start = time.perf_counter()
        for name, call in its_calls:
            if only in f"{name}{BETWEEN}{place}" and not (is_quick and any(word in name for word in SLOW)):
                done[f"{name}{BETWEEN}{place}"] = recorded(call)
        print(f"{time.perf_counter() - start:6.1f} s  {place}", file=sys.stderr)
    return done


# Comparison

BETWEEN = " | "
VALUES, KINDS, TEXTS = "values that changed", "messages of another kind", "messages with another text"


def same(a: Any, b: Any) -> bool:
    """Say whether two figures agree."""
    if any(one is None or isinstance(one, (str, bool)) for one in (a, b)):
        return type(a) is type(b) and bool(a == b)
    return a == b or (a != a and b != b) or abs(a - b) <= max(ABSOLUTE, RELATIVE * max(abs(a), abs(b)))


def differences(old: dict[str, Any], new: dict[str, Any]) -> list[tuple[str, str, str, Any, Any]]:
    """List what changed: the sort, the call, the figure, and both figures."""
    found: list[tuple[str, str, str, Any, Any]] = []
    for name in [*old, *(name for name in new if name not in old)]:
        if name not in old or name not in new:
            found.append((VALUES, name, "is called", name in old, name in new))
            continue
        one, other = old[name], new[name]
        drawn = {column(path) for path in (*one["drawn"], *other["drawn"])}
        for path in dict.fromkeys([*one["figures"], *other["figures"]]):
            a, b = (this["figures"].get(path, "absent") for this in (one, other))
            if column(path) not in drawn and not same(a, b):
                found.append((VALUES, name, path, a, b))
        if one["messages"] != other["messages"]:
            is_text = [kind for kind, _ in one["messages"]] == [kind for kind, _ in other["messages"]]
            found.append((TEXTS if is_text else KINDS, name, "messages", one["messages"], other["messages"]))
    return found


def column(path: str) -> str:
    """Return a path without places, for all of a column are drawn where some entries are."""
    return re.sub(r"\[\d+\]", "", path)


def reported(found: list[tuple[str, str, str, Any, Any]], most: int) -> int:
    """Print what changed, by sort and call, and return the exit code."""
    for sort in (VALUES, KINDS, TEXTS):
        of_sort = [one for one in found if one[0] == sort]
        print(f"{len(of_sort)} {sort}")
        for call in dict.fromkeys(one[1].partition(BETWEEN)[0] for one in of_sort):
            several = [one for one in of_sort if one[1].partition(BETWEEN)[0] == call]
            print(f"  {call}: {len(several)}")
            for _, name, path, a, b in several[:most]:
                print(f"    {name.partition(BETWEEN)[2]}: {path.strip()}: {str(a)[:240]} became {str(b)[:240]}")
    return int(any(one[0] in (VALUES, KINDS) for one in found))


def main(words: list[str] | None = None) -> int:
    """Write, or compare and return 1 where a value or the kind of a message changed."""
    parser = argparse.ArgumentParser(prog="python -m tools.golden", description=__doc__.partition("\n")[0])
    parser.add_argument("action", choices=["write", "compare"])
    parser.add_argument("file", nargs="?", type=Path, default=FILE)
    parser.add_argument("other", nargs="?", type=Path, help="compare with this file, and compute nothing")
    parser.add_argument("--only", default="", metavar="WORD", help="only the calls whose names contain it")
    parser.add_argument("--most", type=int, default=3, metavar="N", help="how many figures of a call are listed")
    arguments = parser.parse_args(words)
    if arguments.action == "write":
        arguments.file.parent.mkdir(parents=True, exist_ok=True)
        done = computed(arguments.only)
        arguments.file.write_bytes(gzip.compress(json.dumps(done).encode(), compresslevel=4))
        print(f"{len(done)} calls, {sum(len(one['figures']) for one in done.values())} figures in {arguments.file}")
        return 0
    old, *read = (json.loads(gzip.decompress(file.read_bytes())) for file in (arguments.file, arguments.other) if file)
    new = read[0] if read else json.loads(json.dumps(computed(arguments.only)))
    old, new = ({name: one for name, one in of.items() if arguments.only in name} for of in (old, new))
    return reported(differences(old, new), arguments.most)


if __name__ == "__main__":
    sys.exit(main())
