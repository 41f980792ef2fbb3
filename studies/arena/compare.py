"""Compare every registered calibrator on every forecast at hand: python -m studies.arena.compare

It writes docs/comparison.md. ``--quick`` takes a few forecasts and prints the page. What there is to compare on says
studies/arena/data_sets.py.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import rankdata, spearmanr
from threadpoolctl import threadpool_limits

from calibrant import ByNotion, brier_score_loss, expected_calibration_error, log_loss
from calibrant.calibrators import BinaryCalibrator
from calibrant.registry import entries
from studies.arena.data_sets import PUBLISHED, Forecast, classifiers, published, tables, trained
from studies.claims import table

PAGE = Path(__file__).parents[2] / "docs" / "comparison.md"
NONE = "uncalibrated"
BINS = 15
WORSE = 1e-4
"""A log loss that is higher by less than this does no harm: less than that is of no use to anyone."""

MOST_CLASSES = {"multiclass-irp": 32}
"""Methods that refuse more classes."""


@dataclass(frozen=True)
class Score:
    """How well a calibrator did on the test rows of a forecast."""

    forecast: str
    group: str
    method: str
    nll: float
    brier: float
    ece: float
    seconds: float
    base: float
    n_classes: int

    @property
    def change(self) -> float:
        """Log loss above that without calibration."""
        return self.nll - self.base

    @property
    def harms(self) -> bool:
        return self.change > WORSE


# The runs


def calibrators(forecast: Forecast) -> dict[str, Callable[[], Any]]:
    """Every registered calibrator for so many classes, with its defaults; a binary one is fitted for each class of a table."""
    made = {}
    for name, entry in entries("calibrator").items():
        if forecast.n_classes > MOST_CLASSES.get(name, forecast.n_classes):
            continue
        by_class = forecast.n_classes > 2 and issubclass(entry.target, BinaryCalibrator)
        made[name] = partial(_by_class if by_class else _make, entry.target, forecast.input)
    return made


def _make(target: Callable[..., Any], word: str) -> Any:
    return target(input=word)


def _by_class(target: Callable[..., Any], word: str) -> Any:
    return ByNotion(target(), "class-wise", input=word)


def scores(forecast: Forecast) -> list[Score]:
    """Fit every calibrator to the rows to calibrate on, and score it on the others."""
    found = [_score(forecast, NONE, forecast.before, 0.0, None)]
    for name, make in calibrators(forecast).items():
        start = time.process_time()
        fitted = make().fit(forecast.fit, forecast.y_fit)
        seconds = time.process_time() - start
        found.append(_score(forecast, name, fitted.calibrate(forecast.test), seconds, found[0].nll))
    return found


def _score(forecast: Forecast, method: str, prob: np.ndarray, seconds: float, base: float | None) -> Score:
    rows = (forecast.y_test, prob)
    nll = log_loss(*rows, clip=1e-12)
    return Score(
        forecast.name,
        forecast.group,
        method,
        nll,
        brier_score_loss(*rows),
        expected_calibration_error(*rows, binning=BINS),
        seconds,
        nll if base is None else base,
        forecast.n_classes,
    )


def warm_up() -> None:
    """Load and compile what the calibrators need, so that no fit is timed with it."""
    threadpool_limits(1)  # two processes, a core each
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(0)
    for shape in ((60,), (60, 3)):
        prob = rng.dirichlet(np.ones(3), 60)[:, : 1 if shape == (60,) else 3].reshape(shape)
        y = rng.integers(2 if prob.ndim == 1 else 3, size=60)
        for make in calibrators(Forecast("", "", y, prob, y, prob)).values():
            make().fit(prob, y).calibrate(prob)


def run(make: Callable[[], Forecast]) -> tuple[Forecast, list[Score]]:
    """Everything about one forecast."""
    warnings.simplefilter("ignore")  # a class that is absent, a temperature without optimum: the result is defined
    forecast = make()
    return forecast, scores(forecast)


# The page


def grid(found: list[Score], what: str, names: list[str], columns: list[str], digits: int) -> str:
    """One figure for each calibrator and forecast; the best of a column is bold, what was not run empty."""
    value = {(s.method, s.forecast): getattr(s, what) for s in found}
    best = {c: min(value[n, c] for n in names if (n, c) in value) for c in columns}

    def cell(name: str, column: str) -> str:
        if (name, column) not in value:
            return ""
        text = f"{value[name, column]:.{digits}f}"
        return f"**{text}**" if text == f"{best[column]:.{digits}f}" else text

    return table(["", *columns], [[f"`{n}`" if n != NONE else n, *(cell(n, c) for c in columns)] for n in names])


SUMMARY = {
    "mean rank": "{:.1f}",
    "rank, K = 2": "{:.1f}",
    "rank, K > 2": "{:.1f}",
    "harm": "{:.0%}",
    "harm, K = 2": "{:.0%}",
    "harm, K > 2": "{:.0%}",
    "median change": "{:+.4f}",
    "worst change": "{:+.4f}",
    "mean Brier": "{:.4f}",
    "mean ECE": "{:.4f}",
    "median fit, ms": "{:.3g}",
}
"""Columns of the first table, and how they are written."""

OF_CALIBRATION = ("harm", "change", "fit")
"""Columns with one of these words do not apply to the uncalibrated forecast."""


def summary(found: list[Score], names: list[str]) -> str:
    """Mean rank, harm and cost of each calibrator over all forecasts, and over those of two and of more classes."""
    rank = ranks(found)
    values = np.array([_summed([s for s in found if s.method == name], rank) for name in names])
    best = np.nanmin(values[1:], axis=0)

    def cell(name: str, value: float, least: float, title: str) -> str:
        if np.isnan(value) or (name == NONE and any(word in title for word in OF_CALIBRATION)):
            return ""
        text = SUMMARY[title].format(value)
        is_best = text == SUMMARY[title].format(least) and "fit" not in title
        return f"**{text}**" if is_best else text

    body = [
        [
            f"`{name}`" if name != NONE else name,
            *(cell(name, value, least, title) for value, least, title in zip(row, best, SUMMARY, strict=True)),
        ]
        for name, row in zip(names, values, strict=True)
    ]
    return table(["", *SUMMARY], body)


def _summed(mine: list[Score], rank: dict[tuple[str, str], float]) -> list[float]:
    """The figures of one calibrator, in the order of the columns."""
    parts = [mine, [s for s in mine if s.n_classes == 2], [s for s in mine if s.n_classes > 2]]
    change = [s.change for s in mine]
    return [
        *(_mean([rank[s.method, s.forecast] for s in part]) for part in parts),
        *(_mean([s.harms for s in part]) for part in parts),
        float(np.median(change)),
        float(np.max(change)),
        _mean([s.brier for s in mine]),
        _mean([s.ece for s in mine]),
        1000 * float(np.median([s.seconds for s in mine])),
    ]


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values)) if values else float("nan")


def conclusions(found: list[Score], methods: list[str]) -> str:
    """What the table says in words, computed."""
    by_nll, by_ece = (np.array([_mean(list(_of(m, ranks(found, what)))) for m in methods]) for what in ("nll", "ece"))
    harm = {m: _mean([s.harms for s in found if s.method == m]) for m in methods}
    worst = {m: max(s.change for s in found if s.method == m) for m in methods}
    least, most = min(harm.values()), max(harm.values())
    safest = min(worst, key=lambda m: worst[m])
    order = spearmanr(by_nll, by_ece)[0]
    first_by_ece = [methods[i] for i in np.argsort(by_ece)[:3]]
    return "\n".join(
        [
            f"* `{methods[0]}` has the best mean rank by NLL. Least harm: {_listed(m for m in methods if harm[m] == least)} "
            f"({least:.0%}); most: {_listed(m for m in methods if harm[m] == most)} ({most:.0%}). In its worst case "
            f"`{safest}` loses least ({worst[safest]:+.4f}).",
            f"* Rank correlation (Spearman) of the mean ranks by NLL and by ECE: {order:.2f}. First by ECE are "
            f"{_listed(first_by_ece)}; by NLL {_listed(methods[:3])}.",
        ]
    )


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _of(method: str, rank: dict[tuple[str, str], float]) -> Iterator[float]:
    return (place for (name, _), place in rank.items() if name == method)


def ranks(found: list[Score], what: str = "nll") -> dict[tuple[str, str], float]:
    """Rank among all calibrators on each forecast; 1 is the best, ties share the mean."""
    rank = {}
    for name in {s.forecast for s in found}:
        mine = [s for s in found if s.forecast == name]
        for s, place in zip(mine, rankdata([round(getattr(s, what), 9) for s in mine]), strict=True):
            rank[s.method, name] = float(place)
    return rank


def averaged(found: list[Score]) -> list[Score]:
    """The mean over the tables of features for each trained classifier."""
    by_name: dict[tuple[str, str], list[Score]] = {}
    for s in found:
        by_name.setdefault((s.method, s.forecast.split(",")[0]), []).append(s)
    return [
        Score(
            classifier,
            "",
            method,
            *(float(np.mean([getattr(s, what) for s in mine])) for what in ("nll", "brier", "ece", "seconds")),
            mine[0].base,
            mine[0].n_classes,
        )
        for (method, classifier), mine in by_name.items()
    ]


def page(forecasts: list[Forecast], found: list[Score], seconds: float) -> str:
    """The whole page."""
    rank = ranks(found)
    methods = sorted({s.method for s in found} - {NONE}, key=lambda m: _mean(list(_of(m, rank))))
    return (
        "\n\n".join(
            [
                *introduction(forecasts, seconds),
                "## Over all forecasts",
                summary(found, [NONE, *methods]),
                conclusions(found, methods),
                *of_published([f for f in forecasts if f.group == PUBLISHED], found, methods),
                *of_trained(forecasts, found, methods),
            ]
        )
        + "\n"
    )


def introduction(forecasts: list[Forecast], seconds: float) -> list[str]:
    """What was run, and what the words of the tables mean."""
    few = sum(f.n_classes == 2 for f in forecasts)
    return [
        "# Calibrators compared",
        f"Written by `python -m studies.arena.compare`, in {seconds:.0f} s on two cores. Every registered "
        f"calibrator with its defaults on {len(forecasts)} forecasts, {few} of two classes (K = 2) and "
        f"{len(forecasts) - few} of more; a binary one is fitted for each class (`ByNotion`, class-wise) where there are more "
        f"than two. {_listed(MOST_CLASSES)} refuses more than {max(MOST_CLASSES.values())} classes: there its cells are empty, "
        "and its means are over the other forecasts. All figures are of rows that neither the classifier nor the calibrator "
        "has seen. The simulated sets of the paper on the test-based calibration error are left out: their test rows are "
        "shifted against the others on purpose, which no calibrator can know.",
        "* **NLL** is the mean log loss (probabilities cut at 1e-12, so that a zero for the true class costs 27.6), "
        f"**Brier** the sum of squared errors over the classes, **ECE** that of the predicted class over {BINS} "
        "bins of equal width (of the event for two classes).\n* **Rank** is by NLL among all lines, 1 the best. "
        f"**Harm** is the share of forecasts whose NLL is worse than without calibration by more than {WORSE:g}; **change** is "
        "NLL minus NLL without calibration. Choose on these: an ECE can be low for a forecast that says little. What is left "
        "of the harm inside `SafeCalibrator`, and with few rows, says [do no harm](do-no-harm.md).\n* **Time** is "
        "CPU seconds of one fit, on a machine that ran two of them at a time.\n* The best of a column is bold; "
        "lines are in the order of their mean rank.",
    ]


def of_published(forecasts: list[Forecast], found: list[Score], methods: list[str]) -> list[str]:
    """The part of the page on published forecasts, a column each."""
    if not forecasts:
        return []
    columns = [f.name for f in forecasts]
    rows = [[f.name, f.shape, f"{len(f.test):,}", f.input] for f in forecasts]
    parts = [
        "## Published forecasts",
        "Those of Covertype are of logistic regression, all others of neural networks.",
        table(["", "rows to calibrate on x classes", "rows to test", "given as"], rows),
    ]
    for what, title, digits in (
        ("nll", "NLL", 4),
        ("brier", "Brier", 4),
        ("ece", "ECE", 4),
        ("seconds", "Seconds to fit", 3),
    ):
        shown = [NONE, *methods] if what != "seconds" else methods
        parts += [f"### {title}", grid(found, what, shown, columns, digits)]
    return parts


def of_trained(forecasts: list[Forecast], found: list[Score], methods: list[str]) -> list[str]:
    """The part of the page on classifiers that were trained here: means over the tables of features."""
    mine = [f for f in forecasts if f.group != PUBLISHED]
    groups = list(dict.fromkeys(f.group for f in mine))
    models = list(dict.fromkeys(f.name.split(",")[0] for f in mine))
    sizes = ", ".join(f"{g} ({next(f.shape for f in mine if f.group == g)})" for g in groups)
    mean = averaged([s for s in found if s.group in groups])
    parts = [
        f"## {len(models)} trained classifiers",
        f"Each trained on {len(groups)} tables: {sizes}; in brackets the rows to calibrate on x classes. The "
        "figures are means over the tables. The support vector machine gives decision values, which are read as logits: what "
        'stands for it under "uncalibrated" is arbitrary, and so is the harm done to it. All others give probabilities.',
    ]
    for what, title, digits in (("nll", "NLL", 4), ("brier", "Brier", 4), ("ece", "ECE", 4)):
        parts += [f"### {title}", grid(mean, what, [NONE, *methods], models, digits)]
    in_order = list(dict.fromkeys(f.group for f in forecasts))
    return [*parts, "### Harm, by table", harm_by_group(found, methods, in_order)]


def harm_by_group(found: list[Score], methods: list[str], groups: list[str]) -> str:
    """Share of the forecasts of each group that a calibrator makes worse."""

    def share(method: str, group: str) -> str:
        mine = [s.harms for s in found if s.method == method and s.group == group]
        return f"{sum(mine)} of {len(mine)}" if mine else ""

    return table(["", *groups], [[f"`{m}`", *(share(m, g) for g in groups)] for m in methods])


def main() -> None:
    """Run everything, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a few forecasts; the page is printed and not stored")
    chosen = parser.parse_args()
    jobs = [*published(), *(partial(trained, t, c) for c in classifiers() for t in tables())]
    if chosen.quick:
        jobs = [job for job in jobs if "cifar100" not in str(job.args)][1:9:2] + jobs[-4:-1]
    jobs.sort(key=lambda job: "cifar100" not in str(job.args))  # the long ones first
    start = time.perf_counter()
    with ProcessPoolExecutor(2, initializer=warm_up) as workers:
        results = list(workers.map(run, jobs))
    results.sort(key=lambda result: result[0].group != PUBLISHED)
    seconds = time.perf_counter() - start
    text = page([f for f, _ in results], [s for _, more in results for s in more], seconds)
    if chosen.quick:
        sys.stdout.write(text)
    else:
        PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
