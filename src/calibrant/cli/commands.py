"""What each command does: read, call the library, print."""

from __future__ import annotations

import math
import operator
import re
import sys
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np

from calibrant._core.checks import choice, left_out, refuse
from calibrant._core.registry import HOMES, entries, find
from calibrant._core.result import shown_pvalue
from calibrant.assessment.table import MULTICLASS_METRICS, Assessment, assess
from calibrant.calibrators.temperature import TemperatureScaling
from calibrant.cli import inputs
from calibrant.cli.advise import Shown, advised, differences_from
from calibrant.cli.inputs import Forecast, assessed, is_in_batches, opened
from calibrant.curves.simplex_partition import SimplexPoints, simplex_points, splits_of
from calibrant.datasets import load_digits_forecast
from calibrant.interop.save import columns_of, load_calibrator
from calibrant.interop.writing import PAGES, require_ending, require_free
from calibrant.metrics.kinds import metric_named
from calibrant.notions import as_notion, single_problem
from calibrant.report.page import COMPARED, NEEDED, comparison, findings, write_report
from calibrant.report.pictures import MOST_POINTS
from calibrant.significance.differences import paired_difference
from calibrant.significance.multiplicity import adjusted_pvalues, shown_adjusted

# Conditions such as ``ece.lower > 0.02`` under which a command fails. They are parsed, and nothing is evaluated


FIELDS = ("value", "lower", "upper", "debiased", "noise_floor", "detectable", "pvalue")

NUMBER = r"([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)"

GATE = re.compile(r"\s*([A-Za-z][A-Za-z0-9_-]*)(?:\.([A-Za-z_]+))?\s*(<=|>=|<|>)\s*" + NUMBER + r"\s*")


@dataclass(frozen=True)
class Gate:
    """A condition on a figure of a metric: the command fails where it holds, and where the figure is NaN."""

    text: str
    metric: str
    field: str
    comparison: str
    number: float

    def require_possible(self, low: float, high: float, *, draws: int | None = None) -> None:
        """Refuse a condition that holds for every figure from ``low`` to ``high``, or for none.

        With ``draws`` the lower end is the smallest p-value of so many draws.
        """
        ends = [self._holds(end) for end in (low, high)]
        if not math.isfinite(low):
            ends[0] = self.comparison.startswith("<")
        if not math.isfinite(high):
            ends[1] = self.comparison.startswith(">")
        if ends[0] != ends[1]:
            return
        must = f"--fail-if must be a condition that can hold and can fail to hold; {self.text!r} "
        must += "always holds" if ends[0] else "can never hold"
        if draws is not None and 0 < self.number < 1:
            needed = draws_for(self.number, strictly=self.comparison in ("<", ">="))
            raise ValueError(
                f"{must}: the smallest p-value that {draws} draws can show is 1/{draws + 1}. Pass --resamples {needed} or more."
            )
        named = {"value": self.metric, "pvalue": f"the p-value of {self.metric}"}
        what = named.get(self.field, f"{self.field} of {self.metric}")
        raise ValueError(f"{must}: {what} is in [{low:.4g}, {high:.4g}]. Compare it with a number inside.")

    def fails(self, result: Assessment) -> str | None:
        """Return why the command fails by this condition; None where it does not."""
        figures = result[self.metric]
        found = getattr(figures, self.field)
        if found is None:
            others = [name for name in FIELDS if getattr(figures, name) is not None]
            must = "--fail-if needs a figure"
            refuse(must, given=f"{self.metric} has no {self.field}", hint=f"Use its {', '.join(others)}")
        if math.isnan(found):
            return f"{self.text}: {self.metric} is NaN on these rows, and NaN fails every gate"
        if self.field == "pvalue":
            least = figures.least_pvalue
            self.require_possible(least or 0.0, 1.0, draws=None if least is None else round(1 / least) - 1)
        return self.text if self._holds(found) else None

    def _holds(self, found: float) -> bool:
        compare = {"<": operator.lt, ">": operator.gt, "<=": operator.le, ">=": operator.ge}[self.comparison]
        return bool(compare(found, self.number))


def parse_gate(text: str, n_resamples: int) -> Gate:
    """Parse ``METRIC[.FIELD] OP NUMBER``, and refuse what no figure can decide. Nothing is evaluated."""
    match = GATE.fullmatch(text)
    if match is None or not math.isfinite(float(match[4])):
        must = "--fail-if must read METRIC[.FIELD] OP NUMBER, with a finite number"
        refuse(must, value=text, hint="For example 'ece > 0.05'")
    metric, field, comparison, number = match.groups()
    if field is not None:
        choice(f"the figure of {metric} in --fail-if", field, FIELDS)
    known = metric_named(metric)
    gate = Gate(text.strip(), known.word_for(metric), field or "value", comparison, float(number))
    if gate.field != "pvalue":
        gate.require_possible(*known.range)
    elif n_resamples > 0:
        drawn = known.draws_labels  # others say it of the estimate
        gate.require_possible(1 / (n_resamples + 1) if drawn else 0.0, 1.0, draws=n_resamples if drawn else None)
    return gate


def draws_for(level: float, *, strictly: bool, times: int = 1) -> int:
    """Return the smallest number of draws of which the least p-value, ``times`` a number, is the level, or below it."""

    def reached(draws: int) -> bool:
        least = times * (1 / (draws + 1))
        return least < level if strictly else least <= level

    about = max(1, math.floor(times / Fraction(level)) - 2)
    return next((draws for draws in range(about, about + 5) if reached(draws)), about + 5)  # a few, for rounding


def require_level(level: float, drawn: Sequence[str], n_tests: int, n_resamples: int) -> None:
    """Refuse a level of ``--fail-below`` that some of the tests, those that draw, cannot go below."""
    least = n_tests * (1 / (n_resamples + 1))
    if not drawn or least < level:
        return
    by_holm = f" of {n_tests} tests, by Holm's method," if n_tests > 1 else ""
    needed = draws_for(level, strictly=True, times=n_tests)
    raise ValueError(
        f"--fail-below must be a p-value that each test can go below; got {level:g}, and the smallest{by_holm} that "
        f"{n_resamples} draws can show is {n_tests}/{n_resamples + 1} = {least:.2g} ({', '.join(drawn)}). "
        f"Pass --resamples {needed} or more, or name tests with a law in formulas by --tests."
    )


def draws_labels(test: str) -> bool:
    """Whether a test draws labels unless it is told not to."""
    options = signature(find("test", test).target).parameters
    return "n_resamples" in options and options["n_resamples"].default is not None


def run_assess(asked: Namespace) -> int:
    """Print how good and how calibrated a forecast is."""
    gates = [parse_gate(text, asked.resamples) for text in asked.fail_if]
    extra = [gate.metric for gate in gates]
    forecast = opened(asked, asked.files, inputs.metrics_asked(asked, extra) or [*MULTICLASS_METRICS, *extra])
    result = assessed(asked, forecast, extra=extra)
    inputs.say_unused_bins(asked, [row.metric for row in result.rows])
    failed = [gate.fails(result) for gate in gates]
    if asked.json:
        document = {
            "rows": result.n_rows,
            "classes": result.class_weight,
            "notion": result.curve.notion,
            "event": result.event,
            "level": result.level,
            "resamples": result.n_resamples,
            "metrics": {
                row.metric: asdict(row.estimate) | ({"note": row.note} if row.note else {}) for row in result.rows
            },
            "verdict": asdict(result.verdict),
            "left_out": result.left_out,
            "columns": {"label": forecast.label_column, forecast.input: list(forecast.forecast_columns)},
            "gates": [
                {"condition": text, "failed": bad is not None} for text, bad in zip(asked.fail_if, failed, strict=True)
            ],
        }
        print(inputs.json_of(document))
    else:
        print(result)
    for why in filter(None, failed):
        print(f"calibrant: gate failed: {why}", file=sys.stderr)
    return int(any(failed))


USUAL_TESTS = ("spiegelhalter", "cox", "hosmer-lemeshow", "kuiper", "resampling", "kernel")
"""Tests that are run if none are named: one for each way to be wrong, and none that needs scores that repeat."""


OF_SUMS = ("spiegelhalter", "resampling")
"""Those that are run of files that are read in batches."""


def run_test(asked: Namespace) -> int:
    """Print the results of tests of calibration, each alone and all together."""
    several = asked.sample is None and is_in_batches(asked, asked.files)
    words = asked.tests.split(",") if asked.tests else OF_SUMS if several else USUAL_TESTS
    chosen = tuple(dict.fromkeys(find("test", word).name for word in words))
    if "equivalence" in chosen:
        must, got = "--tests must ask whether a forecast is calibrated", "equivalence asks whether its error is small"
        refuse(must, given=got, hint="In Python: calibrant.equivalence_test(y_true, y_prob, bound=0.02)")
    if (level := asked.fail_below) is not None:  # before anything is computed
        if not 0 < level < 1:
            raise ValueError(f"--fail-below must be a fraction in (0, 1); got {level:g}. 0.01 is usual.")
        draw = [name for name in chosen if draws_labels(name) and name != "kernel"]  # of very many rows it has a law
        require_level(level, draw, len(chosen), asked.resamples)
    forecast = opened(asked, asked.files)
    event, spoken, rows = _tested(asked, forecast, chosen)
    drawn = {"n_resamples": asked.resamples, "rng": asked.seed}
    results = {n: find("test", n).target(**rows, **(drawn if draws_labels(n) else {})) for n in chosen}
    if level is not None:
        draw = [name for name, result in results.items() if result.least_pvalue is not None]
        require_level(level, draw, len(results), asked.resamples)
    n_rows = forecast.n_counted
    together = adjusted_pvalues(np.array([result.pvalue for result in results.values()]), method="holm")
    adjusted = dict(zip(results, together.tolist(), strict=True))
    undefined = [n for n, r in results.items() if math.isnan(r.statistic) or math.isnan(r.pvalue)]
    below = level is not None and any(p < level for p in adjusted.values())
    failed = below or (level is not None and bool(undefined))
    if asked.json:
        document = {
            n: {name: getattr(r, name) for name in ("statistic", "df", "pvalue", "least_pvalue")}
            | {"holm": adjusted[n], "null": r.null.description}
            for n, r in results.items()
        }
        found = {"rows": n_rows, "left_out": forecast.left_out[0], "event": event, "tests": document, "failed": failed}
        print(inputs.json_of(found))
    else:
        print(f"{n_rows} rows, {spoken}{inputs.missing(*forecast.left_out)}")
        print(f"{'test':<20}{'statistic':>12}{'p-value':>12}{'Holm':>12}  if the forecast were calibrated")
        for n, r in results.items():
            alone, all_told = shown_pvalue(r.pvalue, r.least_pvalue, ".3g"), shown_adjusted(adjusted[n], r, ".3g")
            print(f"{n:<20}{r.statistic:>12.5g}{alone:>12}{all_told:>12}  {r.null.description}")
    if below:
        print(f"calibrant: gate failed: a p-value is below {level:g}", file=sys.stderr)
    if failed and undefined:
        print(
            f"calibrant: gate failed: {', '.join(undefined)} is NaN on these rows, and NaN fails every gate",
            file=sys.stderr,
        )
    return int(failed)


def _tested(
    asked: Namespace, forecast: Forecast | inputs.ForecastStream, tests: Sequence[str]
) -> tuple[str | None, str, dict[str, Any]]:
    """Return the event that is tested, such as "class 1", or None of several classes; its words; and the arguments of a test.

    With --notion the rows are those of its one problem, so that tests that know no notions speak of it as well.
    """
    rows, others = forecast.rows(), [name for name in tests if name not in OF_SUMS]
    in_batches = not isinstance(forecast, Forecast)
    if in_batches and (others or asked.notion is not None):
        what = f"--tests {','.join(others)}" if others else f"--notion {asked.notion}"
        must = f"tests of files that are read in batches must be {' or '.join(OF_SUMS)}, of the usual notion"
        refuse(must, got=what, hint="Pass --sample N for N of the rows, which all tests take")
    problem = forecast.problem()
    if asked.notion is None and problem.classes.size > 2:
        return None, f"{forecast.n_classes} classes", rows
    chosen = as_notion(asked.notion, problem)
    binary = single_problem(problem, chosen, "For each class in turn: calibrant.by_class, in Python")
    event = f"class {problem.classes[1]}" if in_batches else binary.name
    if asked.notion is not None:
        event, is_logit = binary.name or chosen.name, binary.logit is not None
        rows = {
            "y_true": binary.outcome,
            "y_prob": binary.logit if is_logit else binary.score,
            "sample_weight": None if rows["sample_weight"] is None else binary.weight,
            "input": "logit" if is_logit else "probability",
        }
    return event, f"{'notion' if chosen.of_predictions else 'event'}: {event}", rows


def run_report(asked: Namespace) -> int:
    """Write a page that compares forecasts."""
    read_files = [*asked.files, *([asked.calibrator] if asked.calibrator else [])]
    require_free(Path(asked.output), force=asked.force, inputs=read_files, endings=PAGES)
    if asked.points > MOST_POINTS:
        raise ValueError(f"--points must be at most {MOST_POINTS}; got {asked.points}. The default is 1000.")
    names = asked.names.split(",") if asked.names else [Path(file).stem for file in asked.files]
    if len(names) != len(asked.files) or len(set(names)) != len(names):
        must = "each file needs a name of its own"
        refuse(must, got=f"{names} for {len(asked.files)} files", hint="Pass --names a,b")
    in_batches = asked.sample is None and any(is_in_batches(asked, [file]) for file in asked.files)
    if in_batches:
        hint = "Run calibrant apply first, and report on what it writes"
        left_out("--calibrator", asked.calibrator, "with files that are read in batches", hint=hint)
    assessments: dict[str, Assessment] = {}
    simplex: dict[str, SimplexPoints] = {}
    shown: list[Shown] = []  # without files in batches, of which no single rows are shown
    for name, file in zip(names, asked.files if in_batches else [], strict=False):
        assessments[name] = assessed(asked, inputs.open_stream(asked, [file]), extra=NEEDED)
    tables = [] if in_batches else [inputs.in_memory(asked, file) for file in asked.files]
    for name, forecast in zip(names, inputs.aligned(tables), strict=False):
        calibrated, splits = None, None
        assessments[name] = assessed(asked, forecast, extra=NEEDED)
        shown.append((name, forecast, None))
        if asked.calibrator:
            calibrator = load_calibrator(asked.calibrator)
            fitted = columns_of(calibrator)
            if fitted is None or list(fitted) == list(forecast.forecast_columns):
                splits = splits_of(calibrator)  # the points that it splits around
            calibrated = forecast.calibrated(calibrator)
            shown.append((f"{name}, calibrated", forecast, calibrated))
            assessments[shown[-1][0]] = assessed(asked, forecast, prob=calibrated, extra=NEEDED)
        if asked.points and len(forecast.forecast_columns) in (3, 4):
            options = {"max_points": asked.points, "rng": asked.seed}
            points = simplex_points(**forecast.rows(), calibrator=calibrated, **options)
            simplex[name] = replace(points, splits=splits)
    # A forecast that stands alone may be one of a calibration set; those that are compared are of rows to test on.
    advice = advised(shown[0][1]) if len(shown) == 1 else None
    differences = {other[0]: differences_from(shown[0], other) for other in shown[1:]}
    write_report(
        assessments,
        asked.output,
        title=asked.title,
        simplex=simplex,
        advice=advice,
        differences=differences,
        force=asked.force,
    )
    for name, result in assessments.items():
        print(f"{name}: {result}\n")
    for sentence in comparison(assessments, differences):
        print(f"{sentence}\n")
    if advice is not None:
        print(f"{findings(assessments[shown[0][0]], advice)[-1]}\n")
    print(f"wrote {asked.output}")
    return 0


def run_demo(asked: Namespace) -> int:
    """Do the whole job on the embedded data set."""
    target = Path(asked.output)
    require_ending(target, PAGES)
    target.parent.mkdir(parents=True, exist_ok=True)
    require_free(target, force=asked.force)
    y, prob = load_digits_forecast()
    half = len(y) // 2
    calibrator = TemperatureScaling().fit(prob[:half], y[:half])
    calibrated = calibrator.predict_proba(prob[half:])
    show = sys.stderr.isatty()
    assessments = {
        "before": assess(y[half:], prob[half:], progress=show),
        "after": assess(y[half:], calibrated, progress=show),
    }
    differences = {
        "after": [paired_difference(y[half:], calibrated, prob[half:], metric=metric) for metric in COMPARED]
    }
    print("A small neural network classifies handwritten digits; its probabilities are over-confident.")
    print(f"Temperature scaling, fitted on {half} rows: T = {calibrator.temperature_:.4f}\n")
    for name, result in assessments.items():
        print(f"{name}: {result}\n")
    for sentence in comparison(assessments, differences):
        print(f"{sentence}\n")
    title = "Handwritten digits, before and after temperature scaling"
    write_report(assessments, target, title=title, differences=differences, force=asked.force)
    print(f"wrote {target}")
    return 0


def run_list(asked: Namespace) -> int:
    """Print the registry."""
    for kind in HOMES:
        if asked.kind in (None, f"{kind}s"):
            print(f"{kind}s")
            found = entries(kind)
            shown = [name + (f" (also {', '.join(e.also)})" if e.also else "") for name, e in found.items()]
            width = max(map(len, shown))
            for name, entry in zip(shown, found.values(), strict=True):
                print(f"  {name:<{width}} {entry.summary}")
    return 0
