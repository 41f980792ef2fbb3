"""Commands that measure, test, plan and decide: read, call the library, print. They do without scikit-learn."""

from __future__ import annotations

import math
import re
import sys
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from calibrant._core.arrays import FloatArray
from calibrant._core.checks import choice, fraction, left_out, refuse, require
from calibrant._core.registry import HOMES, entries, find
from calibrant._core.result import shown_pvalue, shown_rows
from calibrant.assessment.table import FIGURES, MULTICLASS_METRICS, Assessment
from calibrant.cli import inputs
from calibrant.decisions.curves import risk_threshold
from calibrant.decisions.thresholds import confusion_table, decide, optimal_threshold
from calibrant.interop.columns import Values
from calibrant.interop.tables import words_in, write_table
from calibrant.interop.writing import format_of, require_free
from calibrant.metrics.kinds import metric_named
from calibrant.notions import as_notion, single_problem
from calibrant.planning import rows_for
from calibrant.significance.result import adjusted_pvalues, shown_adjusted

if TYPE_CHECKING:
    from calibrant.assessment.comparison import Compared

# `calibrant plan`: how many rows a question takes


def run_plan(asked: Namespace) -> int:
    """Print how many rows are needed, and what that rests on."""
    known = signature(rows_for).parameters.keys() - {"rows", "binning"}  # which rows of a file, and a word
    said = {
        name: value for name, value in vars(asked).items() if name in known and value is not None and value is not False
    }
    if asked.classes is not None:
        said["n_classes"] = asked.classes
    if asked.bins is not None or asked.binning is not None:
        said["binning"] = inputs.binning_of(asked)
    for name in ("label", "prob", "logit", "rows", "percent", "normalize", "weight") if asked.file is None else ():
        left_out(f"--{name}", getattr(asked, name) or None, "without FILE", hint="Name the file of the pilot")
    if asked.file is not None:
        forecast = inputs.read(asked, asked.file, label_optional=True)
        said |= {"y_prob": forecast.values, "sample_weight": forecast.weight}
        if forecast.input == "logit":
            said["input"] = "logit"
    found = rows_for(**said, rng=asked.seed)
    if asked.json:
        names = ("rows", "standard_error", "sentence", "assumed", "figure", "target")
        tried = [
            {"rows": n, "value": value if abs(value) < float("inf") else None}
            for n, value in zip(found.tried.tolist(), found.value.tolist(), strict=True)
        ]
        print(inputs.json_of({**{name: getattr(found, name) for name in names}, "tried": tried}))
    else:
        print(found)
    return 0


# `calibrant decide`: from probabilities and costs to decisions


def run_decide(asked: Namespace) -> int:
    """Print what the decisions of least expected cost are; with labels, what they cost."""
    if asked.output:
        require_free(Path(asked.output), force=asked.force, inputs=[asked.file])
        format_of(asked.output)
    forecast = inputs.read(asked, asked.file, label_optional=True)
    values = forecast.values
    n_classes = 2 if values.ndim == 1 else values.shape[1]
    extra = words_in(asked.extra) if asked.extra else None
    classes = forecast.classes if forecast.label_column is None else forecast.problem().classes.tolist()
    options: Any = {"extra": extra, "labels": classes, "input": forecast.input}
    if asked.target_risk is None:
        cost = _costs(asked.costs, n_classes=n_classes)
    else:
        least = _kept_risk(asked, forecast)
        if asked.output is None:
            return 0
        abstaining = max(0.0, 1.0 - least)
        if asked.confidence is not None:  # there is one answer, and no class that could be the answer in its place
            kept = values >= least
            words, expected = np.where(kept, "answer", "abstain"), np.where(kept, 1.0 - values, abstaining)
            return _write_decisions(asked, forecast, words, expected)
        # To abstain costs the probability of an error at the threshold; of equal costs, of decimals too, a class is chosen.
        # Without a threshold an answer costs 1 more, so that one of probability 1 is not equal.
        answers = 1.0 - np.eye(n_classes) + math.isinf(least)
        cost = np.hstack([answers, np.full((n_classes, 1), abstaining)])
    found = decide(values, cost, **options)
    if cost.shape == (2, 2):
        (true_negative, false_positive), (false_negative, true_positive) = cost.tolist()
        right = {"cost_true_negative": true_negative, "cost_true_positive": true_positive}
        least = optimal_threshold(false_positive, false_negative, **right)
        print(f"class {found.names[1]} from a probability of {least:.6g} on")
    if forecast.label_column is None:
        print(found)
    else:
        print(confusion_table(forecast.y_true, values, cost_matrix=cost, sample_weight=forecast.weight, **options))
    return _write_decisions(asked, forecast, found.named.astype(str), found.expected_cost) if asked.output else 0


def _write_decisions(asked: Namespace, forecast: inputs.Forecast, decision: Any, expected_cost: FloatArray) -> int:
    """Write the file with the decision of each row, and its expected cost."""
    new = {"decision": Values(decision), "expected_cost": Values(expected_cost)}
    if taken := [name for name in new if name in forecast.table]:
        must = "new columns need names of their own"
        refuse(must, given=f"{asked.file} already has {', '.join(taken)}", hint="Rename or remove these columns")
    write_table(asked.output, forecast.table.extended(new), force=asked.force)
    print(f"wrote {asked.output}: {shown_rows(len(decision))}, decision and expected_cost")
    return 0


def _kept_risk(asked: Namespace, forecast: inputs.Forecast) -> float:
    """Print the threshold from which answers keep the target risk, and return it."""
    hint = "It is another question: ask one of them"
    for name in ("costs", "extra"):
        left_out(f"--{name}", getattr(asked, name), "with --target-risk", hint=hint)
    must, hint = "--target-risk needs a label column, to count errors", "Name it by --label"
    require(forecast.label_column is not None, must, got=f"none in {forecast.file}", hint=hint)
    rows, notion = forecast.rows(), "binary"  # a stated confidence is that the one answer is right
    if asked.confidence is None:
        rows["pos_label"], notion = None, "confidence"  # either class may be the answer
    found = risk_threshold(**rows, risk=asked.target_risk, notion=notion)
    print(found)
    return float(forecast.values.dtype.type(found.threshold))  # in single precision 0.7 is a little less


def _costs(text: str | None, *, n_classes: int) -> Any:
    if text is None:
        return 1.0 - np.eye(n_classes)
    rows = [_numbers("--costs", row) for row in text.split(";")]
    if len({np.size(row) for row in rows}) > 1:
        raise ValueError(f"--costs must have rows of one length; got {text!r}. For two classes: '0,4;1,0'.")
    return np.atleast_2d(np.array(rows, dtype=float))


def _numbers(option: str, text: str) -> float | list[float]:
    """Numbers between commas; one alone is a number."""
    try:
        numbers = [float(part) for part in text.split(",")]
    except ValueError:
        refuse(f"{option} must be numbers between commas", value=text, hint="For two classes: --costs '0,4;1,0'")
    return numbers if len(numbers) > 1 else numbers[0]


# Conditions such as ``ece.lower > 0.02`` under which a command fails. They are parsed, and nothing is evaluated


OF_A_CANDIDATE = ("value", "difference", "lower", "upper")
"""Figures of a candidate of `calibrant compare`: its metric, and how that differs from the first one's."""

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
            least = f"the smallest p-value that {draws} draws can show is 1/{draws + 1}"
            raise ValueError(f"{must}: {least}. Pass --resamples {needed} or more.")
        named = {"value": self.metric, "pvalue": f"the p-value of {self.metric}"}
        what = named.get(self.field, f"{self.field} of {self.metric}")
        raise ValueError(f"{must}: {what} is in [{low:.4g}, {high:.4g}]. Compare it with a number inside.")

    def fails(self, result: Assessment) -> str | None:
        """Return why the command fails by this condition; None where it does not."""
        figures = result[self.metric]
        found = getattr(figures, self.field)
        if found is None:
            others = [name for name in FIGURES if getattr(figures, name) is not None]
            must = "--fail-if needs a figure"
            refuse(must, given=f"{self.metric} has no {self.field}", hint=f"Use its {', '.join(others)}")
        if math.isnan(found):
            return f"{self.text}: {self.metric} is NaN on these rows, and NaN fails every gate"
        if self.field == "pvalue":
            least = figures.least_pvalue
            self.require_possible(least or 0.0, 1.0, draws=None if least is None else round(1 / least) - 1)
        return self.text if self._holds(found) else None

    def fails_for(self, candidates: Sequence[Compared]) -> str | None:
        """Return for which of the candidates that were compared the command fails by this condition; None if for none."""
        found = {one.name: getattr(one, self.field) for one in candidates}
        if undefined := [name for name, value in found.items() if math.isnan(value)]:
            return f"{self.text}: {self.metric} of {', '.join(undefined)} is NaN, and NaN fails every gate"
        failing = [name for name, value in found.items() if self._holds(value)]
        return f"{self.text}: {', '.join(failing)}" if failing else None

    def _holds(self, found: float) -> bool:
        return bool(inputs.COMPARED[self.comparison](found, self.number))


def parse_gate(text: str, n_resamples: int, fields: Sequence[str] = FIGURES) -> Gate:
    """Parse ``METRIC[.FIELD] OP NUMBER``, and refuse what no figure can decide. Nothing is evaluated."""
    match = GATE.fullmatch(text)
    if match is None or not math.isfinite(float(match[4])):
        must = "--fail-if must read METRIC[.FIELD] OP NUMBER, with a finite number"
        refuse(must, value=text, hint="For example 'ece > 0.05'")
    metric, field, comparison, number = match.groups()
    if field is not None:
        choice(f"the figure of {metric} in --fail-if", field, fields)
    known = metric_named(metric)
    gate = Gate(text.strip(), known.word_for(metric), field or "value", comparison, float(number))
    low, high = known.range
    if fields == OF_A_CANDIDATE and gate.field != "value":
        low, high = low - high, high - low
    if gate.field != "pvalue":
        gate.require_possible(low, high)
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


def gates_told(asked: Namespace, failed: list[str | None]) -> list[dict[str, Any]]:
    """Return each condition of --fail-if, and whether the command fails by it."""
    return [{"condition": text, "failed": bad is not None} for text, bad in zip(asked.fail_if, failed, strict=True)]


def end_of(failed: list[str | None]) -> int:
    """Say which gates failed, and return the exit code."""
    for why in filter(None, failed):
        print(f"calibrant: gate failed: {why}", file=sys.stderr)
    return int(any(failed))


def draws_labels(test: str) -> bool:
    """Whether a test draws labels unless it is told not to."""
    options = signature(find("test", test).target).parameters
    return "n_resamples" in options and options["n_resamples"].default is not None


def run_assess(asked: Namespace) -> int:
    """Print how good and how calibrated a forecast is."""
    gates = [parse_gate(text, asked.resamples) for text in asked.fail_if]
    extra = [gate.metric for gate in gates]
    forecast = inputs.opened(asked, asked.files, inputs.metrics_asked(asked, extra) or [*MULTICLASS_METRICS, *extra])
    result = inputs.assessed(asked, forecast, extra=extra)
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
            "gates": gates_told(asked, failed),
        }
        print(inputs.json_of(document))
    else:
        print(result)
    return end_of(failed)


USUAL_TESTS = ("spiegelhalter", "cox", "hosmer-lemeshow", "kuiper", "resampling", "kernel")
"""Tests that are run if none are named: one for each way to be wrong, and none that needs scores that repeat."""


OF_SUMS = ("spiegelhalter", "resampling")
"""Those that are run of files that are read in batches."""


def run_test(asked: Namespace) -> int:
    """Print the results of tests of calibration, each alone and all together."""
    several = asked.sample is None and inputs.is_in_batches(asked, asked.files)
    words = asked.tests.split(",") if asked.tests else OF_SUMS if several else USUAL_TESTS
    chosen = tuple(dict.fromkeys(find("test", word).name for word in words))
    if "equivalence" in chosen:
        must, got = "--tests must ask whether a forecast is calibrated", "equivalence asks whether its error is small"
        refuse(must, given=got, hint="In Python: calibrant.equivalence_test(y_true, y_prob, bound=0.02)")
    if (level := asked.fail_below) is not None:  # before anything is computed
        fraction("--fail-below", level, hint="0.01 is usual")
        draw = [name for name in chosen if draws_labels(name) and name != "kernel"]  # of very many rows it has a law
        require_level(level, draw, len(chosen), asked.resamples)
    forecast = inputs.opened(asked, asked.files)
    event, spoken, rows = _tested(asked, forecast, chosen)
    not_run = [name for name in USUAL_TESTS if several and not asked.tests and name not in OF_SUMS]
    if not_run:
        inputs.note(f"{', '.join(not_run)} need all rows, and are not run: --sample N runs them on N of the rows")
    drawn = {"n_resamples": asked.resamples, "rng": asked.seed}
    results = {n: find("test", n).target(**rows, **(drawn if draws_labels(n) else {})) for n in chosen}
    if level is not None:
        draw = [name for name, result in results.items() if result.least_pvalue is not None]
        require_level(level, draw, len(results), asked.resamples)
    n_rows = forecast.n_counted
    together = adjusted_pvalues(np.array([result.pvalue for result in results.values()]), method="holm")
    adjusted = dict(zip(results, together.tolist(), strict=True))
    undefined = [n for n, r in results.items() if math.isnan(r.statistic) or math.isnan(r.pvalue)]
    failed: list[str | None] = []
    if level is not None and any(p < level for p in adjusted.values()):
        failed.append(f"a p-value is below {level:g}")
    if level is not None and undefined:
        failed.append(f"{', '.join(undefined)} is NaN on these rows, and NaN fails every gate")
    named = {n: re.search(r"\(notion: (.+)\)$", r.hypothesis) for n, r in results.items() if event is None}
    notions = {n: "all classes" if one is None else one[1] for n, one in named.items()}  # tests of the table know none
    if asked.json:
        document = {
            n: {name: getattr(r, name) for name in ("statistic", "df", "pvalue", "least_pvalue")}
            | {"holm": adjusted[n], "null": r.null.description, "notion": notions.get(n)}
            for n, r in results.items()
        }
        found = {"rows": n_rows, "left_out": forecast.left_out[0], "event": event, "tests": document}
        print(inputs.json_of(found | {"not_run": not_run, "failed": bool(failed)}))
    else:
        print(f"{n_rows} rows, {spoken}{inputs.missing(*forecast.left_out)}")
        told = f"{'notion':<13}" if notions else ""
        print(f"{'test':<20}{'statistic':>12}{'p-value':>12}{'Holm':>12}  {told}if the forecast were calibrated")
        for n, r in results.items():
            alone = shown_pvalue(r.pvalue, r.least_pvalue, ".3g")
            all_told = shown_adjusted(adjusted[n], r.pvalue, r.least_pvalue, ".3g")
            told = f"{notions[n]:<13}" if notions else ""
            print(f"{n:<20}{r.statistic:>12.5g}{alone:>12}{all_told:>12}  {told}{r.null.description}")
    return end_of(failed)


def _tested(
    asked: Namespace, forecast: inputs.Forecast | inputs.ForecastStream, tests: Sequence[str]
) -> tuple[str | None, str, dict[str, Any]]:
    """Return the event that is tested, such as "class 1", or None of several classes; its words; and the arguments of a test.

    With --notion the rows are those of its one problem, so that tests that know no notions speak of it as well.
    """
    rows, others = forecast.rows(), [name for name in tests if name not in OF_SUMS]
    in_batches = not isinstance(forecast, inputs.Forecast)
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
