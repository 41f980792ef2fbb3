"""What following the advice of `advise` does to held-out rows, on every forecast at hand: python -m studies.arena.advice

It prints the table of docs/advice.md, and fails if following the advice did harm. What there is to try it on says
studies/arena/data_sets.py. It takes 20 minutes on two cores.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from calibrant import advise
from calibrant.significance import paired_difference
from studies.arena.data_sets import Forecast, classifiers, published, tables, trained
from studies.claims import table

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


def _line(draws: list[Followed]) -> list[str]:
    first, worst = draws[0], max(draws, key=lambda one: one.change)
    advised = ", ".join(
        f"{method} {count} times" if count > 1 else method
        for method, count in Counter(one.method for one in draws).most_common()
    )
    mean, most = np.mean([one.change for one in draws]), f"{worst.change:+.4f} ({worst.standard_error:.4f})"
    return [first.forecast, f"{first.rows:,} x {first.n_classes}", advised, f"{mean:+.4f}", most]


def main() -> None:
    """Run everything, print the table, and fail if the claim does not hold."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=5, help="splits of the rows of each forecast (default 5)")
    jobs = [*published(), *(partial(trained, t, c) for c in classifiers() for t in tables())]
    with ProcessPoolExecutor(2) as workers:
        found = list(workers.map(partial(run, draws=parser.parse_args().draws), jobs))
    head = ["forecast", "rows x classes", "advised", "mean change", "worst change"]
    body = [_line(draws) for draws in sorted(found, key=lambda draws: -draws[0].rows)]
    sys.stdout.write(table(head, body) + "\n")
    if harmed := verdict(one for every in found for one in every):
        sys.exit(f"following the advice did harm {len(harmed)} times: {', '.join(one.forecast for one in harmed)}")


if __name__ == "__main__":
    main()
