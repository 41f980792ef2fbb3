"""Compare every registered calibrator on every forecast at hand: python tools/compare_calibrators.py

It writes docs/comparison.md. ``--quick`` takes a few forecasts and prints the page. What there is to compare on says
tools/comparison_forecasts.py.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from comparison_forecasts import NETWORKS, ROOT, Forecast, classifiers, networks, tables, trained
from scipy.stats import rankdata, spearmanr
from threadpoolctl import threadpool_limits

from calibrant import (
    BinaryCalibrator,
    ByNotion,
    brier_loss,
    entries,
    expected_calibration_error,
    negative_log_likelihood,
)

PAGE = ROOT / "docs" / "comparison.md"
NONE = "uncalibrated"
BINS = 15
NO_CHANGE = 1e-9
"""A log loss that is higher by less than this is not worse."""


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

    @property
    def harms(self) -> bool:
        return self.nll > self.base + NO_CHANGE


# The runs


def calibrators(forecast: Forecast) -> dict[str, Callable[[], Any]]:
    """Every registered calibrator with its defaults; a binary one is fitted for each class of a table."""
    made = {}
    for name, entry in entries("calibrator").items():
        by_class = forecast.n_classes > 2 and issubclass(entry.target, BinaryCalibrator)
        made[name] = partial(_by_class if by_class else _make, entry.target, forecast.input)
    return made


def _make(target: Callable[..., Any], word: str) -> Any:
    return target(input=word)


def _by_class(target: Callable[..., Any], word: str) -> Any:
    return ByNotion(target(), "class-wise", input=word)


def scores(forecast: Forecast) -> list[Score]:
    """Fit every calibrator to the rows to calibrate on, and score it on the others."""
    found = [_score(forecast, NONE, forecast.before, 0.0, np.inf)]
    for name, make in calibrators(forecast).items():
        start = time.process_time()
        fitted = make().fit(forecast.fit, forecast.y_fit)
        seconds = time.process_time() - start
        found.append(_score(forecast, name, fitted.calibrate(forecast.test), seconds, found[0].nll))
    return found


def _score(forecast: Forecast, method: str, prob: np.ndarray, seconds: float, base: float) -> Score:
    rows = (forecast.y_test, prob)
    return Score(
        forecast.name,
        forecast.group,
        method,
        negative_log_likelihood(*rows),
        brier_loss(*rows),
        expected_calibration_error(*rows, binning=BINS),
        seconds,
        base,
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


def table(head: list[str], body: list[list[str]]) -> str:
    """Rows as markdown."""
    return "\n".join("| " + " | ".join(line) + " |" for line in [head, ["---"] * len(head), *body])


def grid(found: list[Score], what: str, names: list[str], columns: list[str], digits: int) -> str:
    """One figure for each calibrator and forecast; the best of a column is bold."""
    value = {(s.method, s.forecast): getattr(s, what) for s in found}
    best = {c: min(value[n, c] for n in names) for c in columns}

    def cell(name: str, column: str) -> str:
        text = f"{value[name, column]:.{digits}f}"
        return f"**{text}**" if text == f"{best[column]:.{digits}f}" else text

    return table(["", *columns], [[f"`{n}`" if n != NONE else n, *(cell(n, c) for c in columns)] for n in names])


def summary(found: list[Score], names: list[str]) -> str:
    """Mean rank, harm and cost of each calibrator over all forecasts."""
    rank = ranks(found)
    by_name = {n: [s for s in found if s.method == n] for n in names}
    columns = []
    for n in names:
        mine = by_name[n]
        base = {s.forecast: s for s in by_name[NONE]}
        change = [s.nll - base[s.forecast].nll for s in mine]
        columns.append(
            [
                float(np.mean([rank[n, s.forecast] for s in mine])),
                float(np.mean([s.harms for s in mine])) if n != NONE else np.nan,
                float(np.median(change)),
                float(np.max(change)),
                float(np.mean([s.brier for s in mine])),
                float(np.mean([s.ece for s in mine])),
                1000 * float(np.median([s.seconds for s in mine])),
            ]
        )
    values = np.array(columns)
    best = np.nanmin(np.where(np.arange(len(names))[:, None] > 0, values, np.nan), axis=0)
    layout = ["{:.1f}", "{:.0%}", "{:+.4f}", "{:+.4f}", "{:.4f}", "{:.4f}", "{:.3g}"]
    body = []
    for i, name in enumerate(names):
        cells = [
            ""
            if name == NONE and j in (1, 2, 3, 6)
            else _bold(shape.format(values[i, j]), shape.format(best[j]), j < 6)
            for j, shape in enumerate(layout)
        ]
        body.append([f"`{name}`" if name != NONE else name, *cells])
    head = ["", "mean rank", "harm", "median change", "worst change", "mean Brier", "mean ECE", "median fit, ms"]
    return table(head, body)


def conclusions(found: list[Score], methods: list[str]) -> str:
    """What the table says in words, computed."""
    by_nll, by_ece = (np.array([np.mean(list(_of(m, ranks(found, what)))) for m in methods]) for what in ("nll", "ece"))
    harm = {m: float(np.mean([s.harms for s in found if s.method == m])) for m in methods}
    worst = {m: max(s.nll - s.base for s in found if s.method == m) for m in methods}
    least, most = (min(harm.values()), max(harm.values()))
    safest = min(worst, key=lambda m: worst[m])
    return "\n".join(
        [
            f"* `{methods[0]}` has the best mean rank by NLL. Least harm: "
            + ", ".join(f"`{m}`" for m in methods if harm[m] == least)
            + f" ({least:.0%}); most: "
            + ", ".join(f"`{m}`" for m in methods if harm[m] == most)
            + f" ({most:.0%}). The smallest loss in the worst case has `{safest}` ({worst[safest]:+.4f}).",
            "* By ECE the order is another one: rank correlation (Spearman) of the mean ranks "
            f"{spearmanr(by_nll, by_ece)[0]:.2f}. First by "
            + "ECE are "
            + ", ".join(f"`{methods[i]}`" for i in np.argsort(by_ece)[:3])
            + "; by NLL "
            + ", ".join(f"`{m}`" for m in methods[:3])
            + ".",
        ]
    )


def _of(method: str, rank: dict[tuple[str, str], float]) -> Iterator[float]:
    return (place for (name, _), place in rank.items() if name == method)


def _bold(text: str, best: str, is_marked: bool) -> str:
    return f"**{text}**" if is_marked and text == best else text


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
        )
        for (method, classifier), mine in by_name.items()
    ]


def page(forecasts: list[Forecast], found: list[Score], seconds: float) -> str:
    """The whole page."""
    rank = ranks(found)
    methods = sorted(
        {s.method for s in found} - {NONE}, key=lambda m: np.mean([v for (n, _), v in rank.items() if n == m])
    )
    names = [NONE, *methods]
    network = [f for f in forecasts if f.group == NETWORKS]
    groups = list(dict.fromkeys(f.group for f in forecasts if f.group != NETWORKS))
    models = list(dict.fromkeys(f.name.split(",")[0] for f in forecasts if f.group != NETWORKS))
    parts = [
        "# Calibrators compared",
        f"Written by `python tools/compare_calibrators.py`, in {seconds:.0f} s on two cores. Every registered "
        f"calibrator with its defaults on {len(forecasts)} forecasts; a binary one is fitted for each class "
        "(`ByNotion`, class-wise) where there are more than two. All figures are of rows that neither the "
        "classifier nor the calibrator has seen.",
        "* **NLL** is the mean log loss (probabilities cut at 1e-12, so that a zero for what came costs 27.6), "
        f"**Brier** the sum of squared errors over the classes, **ECE** that of the predicted class over {BINS} "
        "bins of equal width (of the event for two classes).\n* **Rank** is by NLL among all lines, 1 the best. "
        "**Harm** is the share of forecasts whose NLL is worse than without calibration; **change** is NLL minus "
        "NLL without calibration. Choose on these: an ECE can be low for a forecast that says little. What is left "
        "of the harm inside `SafeCalibrator`, and with few rows, says [do no harm](do-no-harm.md).\n* **Time** is "
        "CPU seconds of one fit, on a machine that ran two of them at a time.\n* The best of a column is bold; "
        "lines are in the order of their mean rank.",
        "## Over all forecasts",
        summary(found, names),
        conclusions(found, methods),
    ]
    if network:
        columns = [f.name for f in network]
        rows = [[f.name, f.shape, f"{len(f.test):,}", f.input] for f in network]
        parts += [
            "## Forecasts of networks",
            table(["", "rows to calibrate on x classes", "rows to test", "given as"], rows),
        ]
        for what, title, digits in (
            ("nll", "NLL", 4),
            ("brier", "Brier", 4),
            ("ece", "ECE", 4),
            ("seconds", "Seconds to fit", 3),
        ):
            shown = names if what != "seconds" else methods
            parts += [f"### {title}", grid(found, what, shown, columns, digits)]
    sizes = ", ".join(f"{g} ({next(f.shape for f in forecasts if f.group == g)})" for g in groups)
    mean = averaged([s for s in found if s.group in groups])
    parts += [
        "## Ten trained classifiers",
        f"Each trained on {len(groups)} tables: {sizes}; in brackets the rows to calibrate on x classes. The "
        "figures are means over the tables. The SVM gives decision values, which are taken as logits; all others "
        "give probabilities.",
    ]
    for what, title, digits in (("nll", "NLL", 4), ("brier", "Brier", 4), ("ece", "ECE", 4)):
        parts += [f"### {title}", grid(mean, what, names, models, digits)]
    parts += ["### Harm, by table", harm_by_group(found, methods, [NETWORKS, *groups] if network else groups)]
    return "\n\n".join(parts) + "\n"


def harm_by_group(found: list[Score], methods: list[str], groups: list[str]) -> str:
    """Share of the forecasts of each group that a calibrator makes worse."""

    def share(method: str, group: str) -> str:
        mine = [s.harms for s in found if s.method == method and s.group == group]
        return f"{sum(mine)} of {len(mine)}"

    return table(["", *groups], [[f"`{m}`", *(share(m, g) for g in groups)] for m in methods])


def main() -> None:
    """Run everything, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a few forecasts; the page is printed and not stored")
    chosen = parser.parse_args()
    jobs = [*networks(), *(partial(trained, t, c) for c in classifiers() for t in tables())]
    if chosen.quick:
        jobs = [job for job in jobs if "cifar100" not in str(job.args)][1:9:2] + jobs[-4:-1]
    jobs.sort(key=lambda job: "cifar100" not in str(job.args))  # the long ones first
    start = time.perf_counter()
    with ProcessPoolExecutor(2, initializer=warm_up) as workers:
        results = list(workers.map(run, jobs))
    results.sort(key=lambda result: result[0].group != NETWORKS)
    seconds = time.perf_counter() - start
    text = page([f for f, _ in results], [s for _, more in results for s in more], seconds)
    if chosen.quick:
        sys.stdout.write(text)
    else:
        PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
