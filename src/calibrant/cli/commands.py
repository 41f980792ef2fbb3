"""What each command does: read, call the library, print."""

from __future__ import annotations

import argparse
import math
import operator
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from calibrant.cli.inputs import (
    aligned,
    assessed,
    calibrated_by,
    is_in_batches,
    json_of,
    metrics_asked,
    missing_of,
    n_rows_of,
    open_stream,
    opened,
    read,
    rows_of,
    sampled,
    say_unused_bins,
)

if TYPE_CHECKING:
    from calibrant._core.arrays import FloatArray
    from calibrant.assessment.table import Assessment
    from calibrant.calibrators.base import Calibrator
    from calibrant.curves.simplex_partition import SimplexPoints
    from calibrant.interop.sources import ForecastStream
    from calibrant.interop.tables import ForecastTable


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
            raise ValueError(
                f"--fail-if needs a figure; {self.metric} has no {self.field}. Use its {', '.join(others)}."
            )
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
    from calibrant._core.checks import choice
    from calibrant.metrics.kinds import metric_named

    match = GATE.fullmatch(text)
    if match is None or not math.isfinite(float(match[4])):
        raise ValueError(
            f"--fail-if must read METRIC[.FIELD] OP NUMBER, with a finite number; got {text!r}. For example 'ece > 0.05'."
        )
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
    import inspect

    from calibrant._core.registry import find

    options = inspect.signature(find("test", test).target).parameters
    return "n_resamples" in options and options["n_resamples"].default is not None


OK, GATE_FAILED, BAD_USE, BROKEN = 0, 1, 2, 70


def run_assess(arguments: argparse.Namespace) -> int:
    """Print how good and how calibrated a forecast is."""
    from calibrant.assessment.table import MULTICLASS_METRICS

    gates = [parse_gate(text, arguments.resamples) for text in arguments.fail_if]
    extra = [gate.metric for gate in gates]
    forecast = opened(arguments, arguments.files, metrics_asked(arguments, extra) or [*MULTICLASS_METRICS, *extra])
    result = assessed(arguments, forecast, extra=extra)
    say_unused_bins(arguments, [row.metric for row in result.rows])
    failed = [gate.fails(result) for gate in gates]
    if arguments.json:
        document = document_of(result) | {
            "left_out": result.left_out,
            "columns": {"label": forecast.label_column, forecast.input: list(forecast.forecast_columns)},
            "gates": [
                {"condition": text, "failed": bad is not None}
                for text, bad in zip(arguments.fail_if, failed, strict=True)
            ],
        }
        print(json_of(document))
    else:
        print(result)
    for why in filter(None, failed):
        print(f"calibrant: gate failed: {why}", file=sys.stderr)
    return GATE_FAILED if any(failed) else OK


USUAL_TESTS = ("spiegelhalter", "cox", "hosmer-lemeshow", "kuiper", "resampling", "kernel")
"""Tests that are run if none are named: one for each way to be wrong, and none that needs scores that repeat."""


OF_SUMS = ("spiegelhalter", "resampling")
"""Those that are run of files that are read in batches."""


def run_test(arguments: argparse.Namespace) -> int:
    """Print the results of tests of calibration, each alone and all together."""
    import numpy as np

    from calibrant._core.registry import find
    from calibrant._core.result import shown_pvalue
    from calibrant.interop.tables import ForecastTable
    from calibrant.significance.multiplicity import adjusted_pvalues, shown_adjusted

    several = arguments.sample is None and is_in_batches(arguments, arguments.files)
    asked = arguments.tests.split(",") if arguments.tests else OF_SUMS if several else USUAL_TESTS
    chosen = tuple(dict.fromkeys(find("test", word).name for word in asked))
    if "equivalence" in chosen:
        raise ValueError(
            "--tests must ask whether a forecast is calibrated; equivalence asks whether its error is small. "
            "In Python: calibrant.equivalence_test(y_true, y_prob, bound=0.02)."
        )
    if (level := arguments.fail_below) is not None:  # before anything is computed
        if not 0 < level < 1:
            raise ValueError(f"--fail-below must be a fraction in (0, 1); got {level:g}. 0.01 is usual.")
        draw = [name for name in chosen if draws_labels(name) and name != "kernel"]  # of very many rows it has a law
        require_level(level, draw, len(chosen), arguments.resamples)
    forecast = opened(arguments, arguments.files)
    event, of_predictions, rows = _tested(arguments, forecast, chosen)
    spoken = f"{forecast.n_classes} classes"
    if event is not None:
        spoken = f"{'notion' if of_predictions else 'event'}: {event}"
    drawn = {"n_resamples": arguments.resamples, "rng": arguments.seed}
    results = {n: find("test", n).target(**rows, **(drawn if draws_labels(n) else {})) for n in chosen}
    if level is not None:
        draw = [name for name, result in results.items() if result.least_pvalue is not None]
        require_level(level, draw, len(results), arguments.resamples)
    n_rows = n_rows_of(arguments, forecast)
    together = adjusted_pvalues(np.array([result.pvalue for result in results.values()]), method="holm")
    adjusted = dict(zip(results, together.tolist(), strict=True))
    undefined = [n for n, r in results.items() if math.isnan(r.statistic) or math.isnan(r.pvalue)]
    below = level is not None and any(p < level for p in adjusted.values())
    failed = below or (level is not None and bool(undefined))
    if arguments.json:
        left_out = 0 if isinstance(forecast, ForecastTable) else forecast.predictions.left_out[0]
        document = {
            n: {name: getattr(r, name) for name in ("statistic", "df", "pvalue", "least_pvalue")}
            | {"holm": adjusted[n], "null": r.null.description}
            for n, r in results.items()
        }
        found = {"rows": n_rows, "left_out": left_out, "event": event, "tests": document, "failed": failed}
        print(json_of(found))
    else:
        print(f"{n_rows} rows, {spoken}{missing_of(forecast)}")
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
    return GATE_FAILED if failed else OK


def _tested(
    arguments: argparse.Namespace, forecast: ForecastTable | ForecastStream, tests: Sequence[str]
) -> tuple[str | None, bool, dict[str, Any]]:
    """Return what is tested, such as "class 1", None of several classes, whether of predictions, and a test's arguments.

    With --notion the rows are those of its one problem, so that tests that know no notions speak of it as well.
    """
    from calibrant._core.border import as_problem
    from calibrant.interop.tables import ForecastTable
    from calibrant.notions import as_notion, single_problem

    rows = rows_of(arguments, forecast)
    in_batches = not isinstance(forecast, ForecastTable)
    others = [name for name in tests if name not in OF_SUMS]
    if in_batches and (others or arguments.notion is not None):
        what = f"--tests {','.join(others)}" if others else f"--notion {arguments.notion}"
        raise ValueError(
            f"tests of files that are read in batches must be {' or '.join(OF_SUMS)}, of the usual notion; got {what}. "
            "Pass --sample N for N of the rows, which all tests take."
        )
    problem = as_problem(**rows) if isinstance(forecast, ForecastTable) else forecast.predictions.head()
    if arguments.notion is None and problem.classes.size > 2:
        return None, False, rows
    if in_batches:
        return f"class {problem.classes[1]}", False, rows
    chosen = as_notion(arguments.notion, problem)
    binary = single_problem(problem, chosen, "For each class in turn: calibrant.by_class, in Python")
    if arguments.notion is None:
        return binary.name, chosen.of_predictions, rows
    as_logit = binary.logit is not None
    return (
        binary.name or chosen.name,
        chosen.of_predictions,
        {
            "y_true": binary.outcome,
            "y_prob": binary.logit if as_logit else binary.score,
            "sample_weight": None if rows["sample_weight"] is None else binary.weight,
            "input": "logit" if as_logit else "probability",
        },
    )


def run_report(arguments: argparse.Namespace) -> int:
    """Write a page that compares forecasts."""
    from dataclasses import replace

    from calibrant.cli.advise import Shown, advised, differences_from
    from calibrant.curves.simplex_partition import simplex_points
    from calibrant.interop.save import load_calibrator
    from calibrant.interop.writing import PAGES, require_free
    from calibrant.report.page import NEEDED, comparison, findings, write_report
    from calibrant.report.pictures import MOST_POINTS

    read_files = [*arguments.files, *([arguments.calibrator] if arguments.calibrator else [])]
    require_free(Path(arguments.output), force=arguments.force, inputs=read_files, endings=PAGES)
    if arguments.points > MOST_POINTS:
        raise ValueError(f"--points must be at most {MOST_POINTS}; got {arguments.points}. The default is 1000.")
    names = arguments.names.split(",") if arguments.names else [Path(file).stem for file in arguments.files]
    if len(names) != len(arguments.files) or len(set(names)) != len(names):
        raise ValueError(
            f"each file needs a name of its own; got {names} for {len(arguments.files)} files. Pass --names a,b."
        )
    in_batches = arguments.sample is None and any(is_in_batches(arguments, [file]) for file in arguments.files)
    if in_batches and arguments.calibrator is not None:
        raise ValueError(
            f"--calibrator must be left out with files that are read in batches; got {arguments.calibrator}. "
            "Run calibrant apply first, and report on what it writes."
        )
    assessments: dict[str, Assessment] = {}
    simplex: dict[str, SimplexPoints] = {}
    shown: list[Shown] = []  # without files in batches, of which no single rows are shown
    if in_batches:
        for name, file in zip(names, arguments.files, strict=True):
            assessments[name] = assessed(arguments, open_stream(arguments, [file]), extra=NEEDED)
        tables: list[ForecastTable] = []
    else:
        found = (
            sampled(open_stream(arguments, [file]), arguments.sample) if arguments.sample else read(arguments, file)
            for file in arguments.files
        )
        tables = aligned(arguments, list(found))
    for name, forecast in zip(names, tables, strict=False):
        calibrated, splits = None, None
        assessments[name] = assessed(arguments, forecast, extra=NEEDED)
        shown.append((name, forecast, None))
        if arguments.calibrator:
            calibrator = load_calibrator(arguments.calibrator)
            splits = _splits(calibrator, forecast)
            calibrated = calibrated_by(arguments, calibrator, forecast)
            shown.append((f"{name}, calibrated", forecast, calibrated))
            assessments[shown[-1][0]] = assessed(arguments, forecast, prob=calibrated, extra=NEEDED)
        if arguments.points and len(forecast.forecast_columns) in (3, 4):
            options = {"max_points": arguments.points, "rng": arguments.seed}
            points = simplex_points(**rows_of(arguments, forecast), calibrator=calibrated, **options)
            simplex[name] = replace(points, splits=splits)
    # A forecast that stands alone may be one of a calibration set; those that are compared are of rows to test on.
    advice = advised(arguments, shown[0][1]) if len(shown) == 1 else None
    differences = {other[0]: differences_from(arguments, shown[0], other) for other in shown[1:]}
    write_report(
        assessments,
        arguments.output,
        title=arguments.title,
        simplex=simplex,
        advice=advice,
        differences=differences,
        force=arguments.force,
    )
    for name, result in assessments.items():
        print(f"{name}: {result}\n")
    for sentence in comparison(assessments, differences):
        print(f"{sentence}\n")
    if advice is not None:
        print(f"{findings(assessments[shown[0][0]], advice)[-1]}\n")
    print(f"wrote {arguments.output}")
    return OK


def _splits(calibrator: Calibrator, forecast: ForecastTable) -> FloatArray | None:
    """Return the points that a calibrator splits around, where its columns are those of the file in their order."""
    from calibrant.curves.simplex_partition import splits_of
    from calibrant.interop.save import columns_of

    fitted = columns_of(calibrator)
    return splits_of(calibrator) if fitted is None or list(fitted) == list(forecast.forecast_columns) else None


def run_demo(arguments: argparse.Namespace) -> int:
    """Do the whole job on the embedded data set."""
    from calibrant.assessment.table import assess
    from calibrant.calibrators.temperature import TemperatureScaling
    from calibrant.datasets import load_digits_forecast
    from calibrant.interop.writing import PAGES, require_ending, require_free
    from calibrant.report.page import COMPARED, comparison, write_report
    from calibrant.significance.differences import paired_difference

    target = Path(arguments.output)
    require_ending(target, PAGES)
    target.parent.mkdir(parents=True, exist_ok=True)
    require_free(target, force=arguments.force)
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
    write_report(assessments, target, title=title, differences=differences, force=arguments.force)
    print(f"wrote {target}")
    return OK


def run_list(arguments: argparse.Namespace) -> int:
    """Print the registry."""
    from calibrant._core.registry import HOMES, entries

    for kind in HOMES:
        if arguments.kind in (None, f"{kind}s"):
            print(f"{kind}s")
            found = entries(kind)
            shown = [name + (f" (also {', '.join(e.also)})" if e.also else "") for name, e in found.items()]
            width = max(map(len, shown))
            for name, entry in zip(shown, found.values(), strict=True):
                print(f"  {name:<{width}} {entry.summary}")
    return OK


def document_of(result: Assessment) -> dict[str, Any]:
    """Return an assessment as what JSON can hold."""
    from dataclasses import asdict

    return {
        "rows": result.n_rows,
        "classes": result.class_weight,
        "notion": result.curve.notion,
        "event": result.event,
        "level": result.level,
        "resamples": result.n_resamples,
        "metrics": {row.metric: asdict(row.estimate) | ({"note": row.note} if row.note else {}) for row in result.rows},
        "verdict": asdict(result.verdict),
    }
