"""What following the advice of `advise` does to held-out rows, on every forecast at hand: python -m studies.arena.advice

It writes docs/advice.md, and fails if following the advice did harm. What there is to try it on says
studies/arena/data_sets.py. It takes 20 minutes on two cores.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np

from calibrant import advise
from calibrant.assessment.advice import (
    FEWEST_DRAWN,
    LEAST_GAIN,
    LEAST_ROWS,
    MARGIN,
    MOST_MISSED,
    MOST_NUMBERS,
    MOST_ROWS,
    OF_CLASSES,
    OF_ONE_EVENT,
)
from calibrant.assessment.held_out import IDENTITY
from calibrant.significance import paired_difference
from studies.arena.data_sets import Forecast, classifiers, published, tables, trained
from studies.claims import table

PAGE = Path(__file__).parents[2] / "docs" / "advice.md"

ROWS, HARM, ERRORS = 1000, 0.002, 2.0
"""Rows to calibrate on from which the advice must do no harm; harm is a log loss that is higher by more nats than this, and by
more than so many standard errors."""


@dataclass(frozen=True)
class Followed:
    """What the advice on the rows to calibrate on was, and the change of the test log loss that following it made."""

    forecast: str
    rows: int
    n_classes: int
    method: str
    change: float
    standard_error: float

    @property
    def harms(self) -> bool:
        return self.change > max(HARM, ERRORS * self.standard_error)


def followed(forecast: Forecast) -> Followed:
    """Ask for advice on the rows to calibrate on, follow it, and measure the change on the test rows."""
    advice = advise(forecast.y_fit, forecast.fit, input=forecast.input)
    calibrator = advice.calibrator()
    facts = (forecast.name, len(forecast.y_fit), forecast.n_classes, advice.recommended)
    if calibrator is None:
        return Followed(*facts, 0.0, 0.0)
    calibrated = calibrator.fit(forecast.fit, forecast.y_fit).calibrate(forecast.test)
    found = paired_difference(forecast.y_test, calibrated, forecast.before)
    return Followed(*facts, found.difference, found.standard_error)


def redrawn(forecast: Forecast, seed: int) -> Forecast:
    """Exchange rows to calibrate on and rows to test at random; seed 0 leaves them as they are."""
    if seed == 0:
        return forecast
    order = np.random.default_rng(seed).permutation(len(forecast.y_fit) + len(forecast.y_test))
    fit, test = np.split(order, [len(forecast.y_fit)])
    y = np.concatenate([forecast.y_fit, forecast.y_test])
    values = np.concatenate([forecast.fit, forecast.test])
    return replace(forecast, y_fit=y[fit], fit=values[fit], y_test=y[test], test=values[test])


def run(make: Callable[[], Forecast], draws: int) -> list[Followed]:
    """Follow the advice on every draw of the rows of one forecast."""
    warnings.simplefilter("ignore")  # a class that is absent, a temperature without optimum: the result is defined
    forecast = make()
    return [followed(redrawn(forecast, seed)) for seed in range(draws)]


def verdict(found: Iterable[Followed]) -> list[Followed]:
    """Return the cases that contradict the claim: with enough rows, harm."""
    return [one for one in found if one.rows >= ROWS and one.harms]


# The page


def page(found: list[list[Followed]], seconds: float) -> str:
    """The whole page."""
    every = [one for draws in found for one in draws]
    enough = [one for one in every if one.rows >= ROWS]
    harmed, others = verdict(every), [one for one in every if one.rows < ROWS]
    changed = [one for one in enough if one.method != IDENTITY]
    worst = max(changed, key=lambda one: one.change)
    holds = "holds" if not harmed else f"does NOT hold: {len(harmed)} times"
    return "\n\n".join(
        [
            "# Which calibrator, if any",
            *the_rule(),
            f"## What following it does\n\nWritten by `python -m studies.arena.advice`, in {seconds:.0f} s on two "
            f"cores. On the {len(found)} forecasts of the comparison the advice on the rows to calibrate on is "
            f"followed, and the log loss of the test rows before and after is compared row by row; {len(found[0])} "
            "times each, of which the first has the rows of the comparison and the others exchange them at random. "
            "The support vector machine gives decision values that are read as logits.",
            f"> With {ROWS} rows or more following the advice never raises the test log loss by more than {HARM:g} nats and "
            f"{ERRORS:g} standard errors.",
            f"This {holds}. In {len(changed)} of the {len(enough)} cases with so many rows a calibrator was advised, and the "
            f"log loss changed by {min(one.change for one in changed):+.4f} to {worst.change:+.4f} (standard error "
            f"{worst.standard_error:.4f}, {worst.forecast}); in the others the forecast was left as it is. In the "
            f"{len(others)} cases with fewer rows there is such harm {sum(one.harms for one in others)} times. The rule is "
            "cautious: where it leaves a forecast as it is (`identity` in the table), a candidate may do better. The "
            "changes below are in nats; "
            "“worst” is the highest change of the draws, with its standard error.",
            table(
                ["forecast", "rows x classes", "advised", "mean change", "worst change"],
                [_line(draws) for draws in sorted(found, key=lambda draws: -draws[0].rows)],
            ),
        ]
    )


def the_rule() -> list[str]:
    """What the rule is, and how to ask."""
    return [
        "`calibrant advise FILE`, `calibrant.advise` and the report of one forecast recommend a calibrator. They "
        "choose it on the given rows, by one rule:",
        "* **Candidates**: what `calibrant fit` takes [by default](calibrators.md#defaults), and beside it of one event "
        f"{_listed(OF_ONE_EVENT)}; of more classes {_listed(OF_CLASSES)} (structured vector and structured matrix scaling). "
        "Isotonic calibration is none of them: class by class it raises the log loss of many forecasts of the "
        f"[comparison](comparison.md). Where a class of several does not occur in the rows, {OF_CLASSES[0]} and the default "
        "are the only candidates; and there is none where all rows are of one class, or the forecast expects more than "
        f"{MOST_MISSED:g} rows of a class that has none.\n"
        "* **Measure**: the log loss of each row in five-fold cross-validation, of each candidate and of the forecast "
        f"as it is, on at most {MOST_ROWS:,} rows drawn at random, and of many classes {MOST_NUMBERS:,} probabilities or "
        f"{FEWEST_DRAWN:,} rows. Rows are rows as given: a weight, whole or not, is how much its row counts, and is in one "
        "fold with it. Copies of a row, found by their labels, are one row.\n"
        "* **Choice**: a candidate is better than the forecast as it is where its mean log loss is lower by more than "
        f"{MARGIN:g} paired standard errors. If the default is, it is recommended, unless others are better than the default "
        f"by as many and {LEAST_GAIN:g} nats: then the best of these. If the default is not, the best of the others that are. "
        f"If none is, or with fewer than {LEAST_ROWS} rows, the forecast stays as it is.",
        "```python\nfrom calibrant import advise, load_digits_forecast\n\ny, prob = load_digits_forecast()\n"
        "found = advise(y[:748], prob[:748])\nprint(found)\ncalibrator = found.calibrator()  # None: leave it as it is\n```",
        "The rows must be a calibration set: rows that the classifier was not trained on, and not those that it is tested on. "
        "Where test rows are given too, as `advise(y, prob, other_true=y_test, other_prob=prob_test)` or "
        "`--other FILE`, a warning tells if the calibration rows look like training rows: if their log loss or error rate is "
        "below two thirds of that of the test rows, significantly at a level of 0.001, or if rows are in both.",
    ]


def _line(draws: list[Followed]) -> list[str]:
    first, worst = draws[0], max(draws, key=lambda one: one.change)
    advised = ", ".join(
        f"{method} {count} times" if count > 1 else method
        for method, count in Counter(one.method for one in draws).most_common()
    )
    return [
        first.forecast,
        f"{first.rows:,} x {first.n_classes}",
        advised,
        f"{np.mean([one.change for one in draws]):+.4f}",
        f"{worst.change:+.4f} ({worst.standard_error:.4f})",
    ]


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def jobs() -> Iterator[Callable[[], Forecast]]:
    """Every forecast of the comparison."""
    yield from published()
    yield from (partial(trained, t, c) for c in classifiers() for t in tables())


def main() -> None:
    """Run everything, write the page, and fail if the claim does not hold."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=5, help="splits of the rows of each forecast (default 5)")
    draws, start, found = parser.parse_args().draws, time.perf_counter(), []
    sys.stdout.write("about 20 minutes\n")
    with ProcessPoolExecutor(2) as workers:
        for done in workers.map(partial(run, draws=draws), list(jobs())):
            found.append(done)
            sys.stdout.write(f"{done[0].forecast}: {', '.join(f'{one.method} {one.change:+.4f}' for one in done)}\n")
            sys.stdout.flush()
    PAGE.write_text(page(found, time.perf_counter() - start) + "\n", encoding="utf-8")
    if harmed := verdict(one for every in found for one in every):
        sys.exit(f"following the advice did harm {len(harmed)} times: {', '.join(one.forecast for one in harmed)}")
    sys.stdout.write("the claim holds\n")


if __name__ == "__main__":
    main()
