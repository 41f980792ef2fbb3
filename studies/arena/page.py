"""Write docs/arena.md, its picture and what other pages take from it, from the stored results.

Run: python -m studies.arena.page
"""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import pairwise
from pathlib import Path

import numpy as np
from scipy.stats import rankdata

from calibrant.calibrators.classifier import SAFE_BELOW, SAFE_BELOW_OF_TWO, default_method
from studies.arena.cells import DEFAULT, MOST_CLASSES, MOST_SECONDS, MOST_TESTED, NONE, PEERS, SIZES, TOO_SLOW
from studies.arena.data_sets import DEEP, DESIGN, KEPT_APART, LATER
from studies.arena.results import WORSE, Result, stored
from studies.claims import table

# Figures of the arena: ranks, wins, improvement, harm, worst case and time, with intervals over data sets.
#
# Every mean is one over data sets: first over the forecasts of a data set, then over the sets. Intervals are percentiles of
# means of data sets that are drawn again with replacement.


DRAWS, LEVEL = 2000, 0.95
FEWEST_SETS = 10
"""With fewer data sets there is no claim."""

DIGITS = 9
"""Losses that agree to so many digits are ties."""


@dataclass(frozen=True)
class Interval:
    """A mean over data sets, and where it lies if the data sets are drawn again."""

    value: float
    low: float
    high: float

    @property
    def excludes_zero(self) -> bool:
        return self.low > 0.0 or self.high < 0.0


@dataclass(frozen=True)
class Table:
    """Results of experiments that belong together (one number of rows; two or more classes), as arrays.

    ``methods`` are those with a line in every experiment. ``losses`` has a row an experiment and a column a method; NaN where a
    method failed or was too slow.
    """

    results: tuple[Result, ...]

    @cached_property
    def methods(self) -> list[str]:
        each = [{r.method for r in mine} for mine in self._experiments.values()]
        return sorted(set.intersection(*each), key=lambda method: (method != NONE, method)) if each else []

    @cached_property
    def _experiments(self) -> dict[tuple[str, str, int], list[Result]]:
        found = defaultdict(list)
        for result in self.results:
            found[result.experiment].append(result)
        return dict(found)

    @cached_property
    def data_sets(self) -> list[str]:
        """The data set of each experiment."""
        return [data_set for data_set, _, _ in self._experiments]

    @property
    def n_sets(self) -> int:
        return len(set(self.data_sets))

    def array(self, name: str) -> np.ndarray:
        """One figure of every result, experiments x methods."""
        rows = []
        for mine in self._experiments.values():
            value = {r.method: getattr(r, name) for r in mine}
            rows.append([value[method] for method in self.methods])
        return np.array(rows, dtype=np.float64).reshape(-1, len(self.methods))

    @cached_property
    def losses(self) -> np.ndarray:
        return self.array("logloss")

    def column(self, method: str) -> int:
        return self.methods.index(method)


def of_size(results: Iterable[Result], rows: int, two_classes: bool) -> Table:
    """The experiments with so many rows to calibrate on, of two or of more classes."""
    return Table(tuple(r for r in results if r.rows == rows and (r.n_classes == 2) == two_classes))


def ranks(losses: np.ndarray) -> np.ndarray:
    """Rank in each row, 1 the lowest; ties share the mean, and NaN share the last places."""
    filled = np.where(np.isnan(losses), np.inf, np.round(losses, DIGITS))
    return np.asarray(rankdata(filled, axis=1))


def win_rates(losses: np.ndarray) -> np.ndarray:
    """Share of the other methods that each beats in each row; a tie is half a win."""
    n = losses.shape[1]
    return (n - ranks(losses)) / (n - 1) if n > 1 else np.full(losses.shape, 0.5)


def by_data_set(values: np.ndarray, data_sets: list[str]) -> np.ndarray:
    """Means over the rows of each data set, in the order of their names; NaN are left out."""
    names, of = np.unique(data_sets, return_inverse=True)
    known = ~np.isnan(values)
    total, count = np.zeros((len(names), values.shape[1])), np.zeros((len(names), values.shape[1]))
    np.add.at(total, of, np.where(known, values, 0.0))
    np.add.at(count, of, known)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


@cache
def counts_of_draws(n: int, draws: int, seed: int) -> np.ndarray:
    """How often each of n data sets is in each draw."""
    return np.random.default_rng(seed).multinomial(n, np.full(n, 1.0 / n), size=draws).astype(float)


def intervals(values: np.ndarray, data_sets: list[str], draws: int = DRAWS, seed: int = 0) -> list[Interval]:
    """Mean over the data sets of each column, with its bootstrap interval."""
    mean = by_data_set(values, data_sets)
    count, known = counts_of_draws(len(mean), draws, seed), ~np.isnan(mean)
    weight = np.maximum(count @ known.astype(float), 1e-300)
    again = count @ np.where(known, mean, 0.0) / weight
    low, high = np.quantile(again, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=0)
    value = np.where(known, mean, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    of = np.where(known.any(axis=0), [value, low, high], np.nan)
    return [Interval(*one) for one in of.T.tolist()]


# Measures of a table: one figure a method


def mean_rank(table: Table) -> list[Interval]:
    """Mean rank by log loss among all methods."""
    return intervals(ranks(table.losses), table.data_sets)


def win_rate(table: Table) -> list[Interval]:
    """Share of the pairs that a method wins by log loss."""
    return intervals(win_rates(table.losses), table.data_sets)


def improvement(table: Table, what: str = "logloss") -> list[Interval]:
    """Mean of a loss without calibration less the loss with it: above 0 is better. Of the accuracy the gain."""
    loss = table.array(what)
    change = loss[:, [table.column(NONE)]] - loss
    return intervals(-change if what == "accuracy" else change, table.data_sets)


def harm(table: Table) -> list[Interval]:
    """Share of the cells where the log loss is worse than without calibration."""
    return intervals(table.array("harm"), table.data_sets)


def worst(table: Table) -> list[float]:
    """The highest log loss of a cell less that without calibration."""
    return _greatest(table.array("worst"))


def excess(table: Table) -> np.ndarray:
    """Log loss of each experiment less that of the best other method."""
    losses = np.where(np.isnan(table.losses), np.inf, table.losses)
    order = np.sort(losses, axis=1)
    best_other = np.where(losses == order[:, [0]], order[:, [1]], order[:, [0]])
    return np.where(np.isnan(table.losses), np.nan, table.losses - best_other)


def worst_excess(table: Table) -> list[float]:
    """The highest mean excess of a data set over the best other method."""
    return _greatest(by_data_set(excess(table), table.data_sets))


def _greatest(values: np.ndarray) -> list[float]:
    return [float(np.nanmax(column)) if not np.isnan(column).all() else np.nan for column in values.T]


def seconds(table: Table) -> list[float]:
    """Median processor time to fit and to apply."""
    return [float(np.nanmedian(column)) for column in table.array("seconds").T]


def differences(table: Table, of: Callable[[np.ndarray], np.ndarray], first: str) -> dict[str, Interval]:
    """Paired difference of each method from one: above 0 is a higher rank or loss than that one."""
    values = of(table.losses)
    gap = values - values[:, [table.column(first)]]
    return dict(zip(table.methods, intervals(gap, table.data_sets), strict=True))


def leaders(table: Table) -> tuple[str, list[str]]:
    """The method with the lowest mean rank, and those whose mean rank is not clearly higher."""
    found = mean_rank(table)
    order = sorted(range(len(found)), key=lambda i: found[i].value)
    first = table.methods[order[0]]
    gap = differences(table, ranks, first)
    return first, [table.methods[i] for i in order[1:] if gap[table.methods[i]].low <= 0.0]


# Results of two classes and of more, by the number of rows, and the words for methods and figures on the pages.


GROUPS = {True: "Two classes", False: "More than two classes"}
Tables = dict[int, Table]


def tables_of(results: Sequence[Result], two: bool) -> Tables:
    """The table of each size that has results."""
    every = {size: of_size(results, size, two) for size in SIZES}
    return {size: one for size, one in every.items() if one.n_sets}


def enough(tables: Tables) -> Tables:
    """The sizes with data sets enough for a claim."""
    return {size: one for size, one in tables.items() if one.n_sets >= FEWEST_SETS}


def shown(method: str) -> str:
    """The word of a calibrator, or the name of a peer."""
    return method if method == NONE or method in PEERS else f"`{method}`"


def interval(one: Interval, form: str) -> str:
    """The mean, and its interval in brackets."""
    return f"{form.format(one.value)} ({form.format(one.low)} to {form.format(one.high)})"


def listed(parts: Iterable[str]) -> str:
    """Parts of a sentence: ``a, b and c``."""
    *most, last = [*parts] or [""]
    return f"{', '.join(most)} and {last}" if most else last


def percent(share: float) -> str:
    """A share in whole percent; halves are rounded up."""
    return f"{int(np.floor(100.0 * share + 0.5 + 1e-9))}"


# What docs/calibrators.md and docs/evidence-scaling.md take from the arena: python -m studies.arena.page puts it there.


BEST = 8
"""So many methods are named in a cell at most."""

MARKS = ("<!-- from the arena: python -m studies.arena.page -->", "<!-- end of what is from the arena -->")


def recommendations(results: list[Result]) -> str:
    """What leads on the data sets kept apart, by classes and rows."""
    lines = []
    for two, group in GROUPS.items():
        for size, one in enough(tables_of(results, two)).items():
            first, level = leaders(one)
            mine = [m for m in (first, *level) if m not in PEERS and m != NONE]
            share = {m: harm(one)[one.column(m)].value for m in mine}
            least = min(mine, key=lambda m: share[m])
            behind = ", ".join(shown(m) for m in mine[1:BEST]) or "none"
            best, safest = (f"{shown(m)}, {percent(share[m])} %" for m in (mine[0], least))
            lines.append([group.lower(), f"{size:,}", best, behind, safest, str(one.n_sets)])
    ranked = ["lowest mean rank, and its harm", "not clearly behind", "least harm of these"]
    head = ["classes", "rows", *ranked, "data sets"]
    intro = (
        "From the [arena](arena.md), on data sets that no method of this library was designed on. After each method stands the "
        "share of its "
        f"experiments in which the log loss is higher than without calibration. Below {SAFE_BELOW:,} rows, of two classes "
        f"{SAFE_BELOW_OF_TWO:,}, the default is {shown(NEW)} within `SafeCalibrator`, with less harm."
    )
    return f"{intro}\n\n{table(head, lines)}"


def put(text: str, block: str) -> str:
    """Replace what stands between the marks."""
    between = re.compile(f"{re.escape(MARKS[0])}.*?{re.escape(MARKS[1])}", flags=re.S)
    return between.sub(lambda _: f"{MARKS[0]}\n\n{block}\n\n{MARKS[1]}", text)


def standing(results: list[Result], method: str, beside: str = "safe") -> str:
    """Where one method stands: its mean rank, how far the best other one is behind, and its harm beside that of another."""
    lines = []
    for two, group in GROUPS.items():
        for size, one in enough(tables_of(results, two)).items():
            rank = dict(zip(one.methods, mean_rank(one), strict=True))
            other = min((m for m in one.methods if m != method), key=lambda m: rank[m].value)
            gap = differences(one, ranks, method)[other]
            share = [f"{100 * harm(one)[one.column(m)].value:.1f}" for m in (method, beside)]
            ranked = [f"{rank[method].value:.1f}", shown(other), interval(gap, "{:+.1f}")]
            lines.append([group.split()[0].lower(), f"{size:,}", str(one.n_sets), *ranked, *share])
    head = ["classes", "rows", "data sets", "mean rank", "best other method", "its mean rank less this one"]
    return table([*head, "harm, %", f"harm of {shown(beside)}, %"], lines)


FEW = {"ES": "evidence-scaling", "ES, safe": DEFAULT}
"""Methods that are compared with few rows, by their names in the table; the default is ES in `SafeCalibrator` there."""


def with_few_rows(results: list[Result]) -> str:
    """Change of the log loss, harm and worst case with few rows, and the mean rank of each among all others."""
    lines, run = [], {one.experiment for one in results if one.method == DEFAULT}
    for two, word in zip(GROUPS, ("two", "more"), strict=True):
        for size, one in enough(tables_of([one for one in results if one.experiment in run], two)).items():
            for name, method in FEW.items() if default_method(2 if two else 3, size).safe else ():
                others = {NEW, DEFAULT} - {method}
                ranked = Table(tuple(result for result in one.results if result.method not in others))
                figures = [f"{-improvement(one)[one.column(method)].value:+.4f}"]
                figures += [percent(harm(one)[one.column(method)].value), f"{worst(one)[one.column(method)]:+.4f}"]
                rank = f"{mean_rank(ranked)[ranked.column(method)].value:.1f}"
                lines.append([word, f"{size}", str(one.n_sets), name, *figures, rank])
    head = ["classes", "rows", "data sets", "method", "change of the log loss", "harm, %", "worst case", "mean rank"]
    return table(head, lines)


def of_evidence_scaling(results: list[Result]) -> str:
    """What docs/evidence-scaling.md takes."""
    ranked = counted_once({KEPT_APART: results})[KEPT_APART]
    return f"{standing(ranked, NEW)}\n\n{with_few_rows(results)}"


DOCS = Path(__file__).parents[2] / "docs"
PAGE, PICTURE = DOCS / "arena.md", DOCS / "images" / "arena-ranks.png"
PARTS = {KEPT_APART: "Data sets kept apart", DESIGN: "Data sets for design"}
NEW = "evidence-scaling"
"""The method whose design looked at sets of the part for design."""

ARTIFICIAL = (
    "Most are tables of real data. Four are artificial (`attrition`, `churn-internet`, `churn-telecom` and `pizza`), and "
    "`tic-tac-toe` lists the boards of a game."
)
"""What the documentation of data sets that are kept apart says of them."""

FROZEN = "ad48919"
"""The commit in which the design of that method was frozen, before the sets that are kept apart were run."""


def twins(results: Iterable[Result]) -> dict[str, str]:
    """Calibrators whose log loss is that of one before them in every experiment, with the name of that one."""
    losses: dict[str, dict[tuple[str, str, int], str]] = defaultdict(dict)
    for one in results:
        if one.method != NONE and one.method not in PEERS:
            losses[one.method][one.experiment] = f"{one.logloss:.5f} {one.note}"
    found: dict[str, str] = {}
    for method, of in losses.items():
        same = [other for other, before in losses.items() if before == of]
        if method != same[0]:
            found[method] = same[0]
    return found


def counted_once(results: dict[str, list[Result]]) -> dict[str, list[Result]]:
    """The results without those of twins, and of the default, which is another line's method: a method under two names would
    change the ranks of the others."""
    same = {DEFAULT, *twins(one for part in results.values() for one in part)}
    return {part: [one for one in of if one.method not in same] for part, of in results.items()}


def page(results: dict[str, list[Result]]) -> str:
    """The whole page."""
    parts = introduction(results)
    for part, of in counted_once(results).items():
        parts += [f"## {PARTS[part]}", about(of, part)]
        for two, group in GROUPS.items():
            parts += section(group, tables_of(of, two), brief=part == DESIGN)
        parts += by_gain(results[part], of) if part == KEPT_APART else []  # of the other the default was not run
    return "\n\n".join(parts) + "\n"


def introduction(results: dict[str, list[Result]]) -> list[str]:
    """What was run and what was not, and what the words mean that the tables use."""
    every = [one for part in results.values() for one in part]
    n_sets, n_tables = len({r.data_set for r in every}), len({(r.data_set, r.model) for r in every})
    draws = draws_of(every)
    run = [name for name in PEERS if any(r.method == name for r in every)]
    missing = [name for name in PEERS if name not in run]
    return [
        "# The arena",
        in_short(results[KEPT_APART], counted_once(results)[KEPT_APART]),
        f"This page compares all calibrators, with their defaults, on {n_tables} tables of predictions from {n_sets} data "
        f"sets, with {min(draws):,} to {max(draws):,} rows to calibrate on. Each row was predicted by a classifier that was "
        f"not trained on it. Methods of other packages that were run: {', '.join(run) or 'none'}. Not run, since the "
        f"packages were not installed: {', '.join(missing) or 'none'}. A method of another package has a line and a rank of "
        "its own, also where it is the same method as a calibrator of this library.",
        "`make arena` makes the predictions, runs the methods and writes this page. The results are data in the repository, "
        "`studies/arena/results-*.csv.gz`, and `python -m studies.arena.page` writes the page from them. "
        "`studies/arena/data_sets.csv` lists the data sets, their part and their source. If you have the files of CalArena "
        "(arXiv 2605.30188), `python -m studies.arena.calarena run FOLDER tabrepo-binary` runs every calibrator on them, and "
        "writes tables that can be joined with those of CalArena. On predictions of your own, a file that `calibrant fit` "
        "reads, `python -m studies.arena.try_yours FILE -o page.md` compares all of them by cross-validation.",
        "\n".join(f"* {line}" for line in words(every, draws, draws_of(results[DESIGN]))),
    ]


def in_short(results: list[Result], ranked: list[Result]) -> str:
    """Who leads on the data sets that were kept apart, and how often it does harm."""
    lines = []
    for two, group in GROUPS.items():
        known = enough(tables_of(ranked, two))
        first = {size: leaders(one) for size, one in known.items()}
        for method in dict.fromkeys(best for best, _ in first.values()):
            sizes = [size for size, (best, _) in first.items() if best == method]
            level = [f"{shown(m)} with {size:,}" for size in sizes for m in first[size][1]]
            share = [percent(harm(known[size])[known[size].column(method)].value) for size in sizes]
            lines.append(
                f"* **{group}**: {shown(method)} has the lowest mean rank with {listed(f'{size:,}' for size in sizes)} rows. "
                f"Not clearly behind: {listed(level) or 'none'}. {shown(method)} did harm in {listed(share)} % of the "
                "experiments with so many rows."
            )
    n_sets = len({one.data_set for one in results})
    return (
        f"**In short**, on {n_sets} data sets that were kept apart from all design:\n\n" + "\n".join(lines) + "\n\n"
        f"`{NEW}` is a method of this library. Its design was frozen in commit {FROZEN}, before any of these data sets was run "
        "with it. The default of `calibrant fit` was chosen afterwards, by these results. For up to 50 classes, as these "
        "have, the method itself is the same since; of more it has fewer features. Its line was not run again. "
        "The line `default` was run with the code of commit "
        f"6c7e581 where the default is the method by itself, and with that of commit {SHARE} where it is held back; in 52 "
        "experiments of 12 data sets, of which newer packages make other forecasts, with that of commit 890977b, without a "
        "share mixed in. How far it is held back, and the share, were chosen on the sets for design, after it had been chosen "
        "by these that it is held back. "
        + again(results)
        + " [A later part](#data-sets-added-later-with-other-classifiers), with other classifiers, ranks the default itself."
    )


def draws_of(results: list[Result]) -> dict[int, int]:
    """The most draws of each size that was run."""
    found = {size: max((r.draws for r in results if r.rows == size), default=0) for size in SIZES}
    return {size: n for size, n in found.items() if n}


def drawn(draws: dict[int, int]) -> str:
    """How many draws there are of each size: ``one draw of 100, of 300 and of 1,000 rows``."""
    parts = []
    for n in sorted(set(draws.values()), reverse=True):
        sizes = listed(f"of {size:,}" for size, m in draws.items() if m == n)
        parts.append(f"{'one draw' if n == 1 else f'at most {n} draws'} {sizes} rows")
    return "; ".join(parts)


def words(results: list[Result], draws: dict[int, int], designed: dict[int, int]) -> list[str]:
    """What the words of the page mean."""
    of_design = f" (of the sets for design {drawn(designed)})" if designed and designed != draws else ""
    same = "; ".join(f"{shown(a)} has the log loss of {shown(b)} everywhere" for a, b in twins(results).items())
    limited = [method for method in MOST_CLASSES if any(one.method == method for one in results)]
    few = ", ".join(f"{shown(method)} was run on up to {MOST_CLASSES[method]} classes only" for method in limited)
    return [
        "**Kept apart** are data sets that no method or prior of the library was designed or chosen on. Figures on the sets "
        "for **design** flatter the methods that were designed on them.",
        "An **experiment** is a table of predictions, a number of rows to calibrate on, and a random draw of these rows. "
        f"Drawn: {drawn(draws)}{of_design}. The test set has up to {MOST_TESTED:,} held-out rows.",
        "**Log loss** is in nats (natural logarithms); probabilities below 1e-12 count as 1e-12. **Rank** is by log loss "
        "among all methods, and 1 is the best. A method that failed, or took more than "
        f"{MOST_SECONDS:.0f} s of processor time, shares the last ranks.",
        "**Harm** is the share of the experiments in which the log loss is higher than without calibration by more than "
        f"{WORSE:g}.",
        "**Brier** is the sum of squared errors over the classes. Its **refinement** is what no monotone map of the "
        "probabilities of each class could remove (the CORP decomposition of each class). A gain there is more than "
        "calibration.",
        "**Win rate** is the share of the methods that a method beats by log loss. **Improvement** is the loss without "
        "calibration less the loss with it: above 0 is better. **Worst case** is the largest increase in an experiment. "
        "**Excess** is the log loss on a data set less that of the best other method.",
        "Means are over data sets. Intervals (95 %, in brackets) are percentiles of a bootstrap over data sets. A number of "
        f"rows with fewer than {FEWEST_SETS} data sets has no column, and nothing is claimed of it. If a method has no figure "
        "for a table of predictions, its means, other than ranks, are over the other tables.",
        f"Counted once: {same}.",
        f"{few}. It has no line in tables with data sets of more classes.",
    ]


def about(results: list[Result], part: str) -> str:
    """How much there is of a part."""
    sets = {two: len({r.data_set for r in results if (r.n_classes == 2) == two}) for two in GROUPS}
    slow = sorted({shown(r.method) for r in results if r.note == TOO_SLOW})
    failed = sorted({shown(r.method) for r in results if r.note.startswith("failed")})
    kind = "Most were used to design methods or to choose defaults." if part == DESIGN else ARTIFICIAL
    return (
        f"{len({(r.data_set, r.model) for r in results})} tables of predictions: {sets[True]} data sets of two classes, "
        f"{sets[False]} of more. {kind} Methods that were too slow in some experiment: "
        f"{', '.join(slow) or 'none'}. Methods that failed in some experiment: {', '.join(failed) or 'none'}."
    )


def section(title: str, tables: Tables, brief: bool) -> list[str]:
    """Sentences and tables of one part and two or more classes."""
    parts = [f"### {title}", "\n".join(f"* {verdict(size, one)}" for size, one in tables.items())]
    known = enough(tables)
    order = in_order(known)
    grids: dict[str, Callable[[Table], Sequence[str]]] = {
        "mean rank": lambda t: [interval(one, "{:.1f}") for one in mean_rank(t)],
        "harm, %": lambda t: [percent(one.value) for one in harm(t)],
    }
    if not brief:
        grids |= {
            "improvement of log loss, thousandths": lambda t: [f"{1000 * one.value:+.1f}" for one in improvement(t)],
            "highest excess of a data set, nats": lambda t: [f"{value:+.3f}" for value in worst_excess(t)],
        }
    for name, figures in grids.items():
        parts.append(grid(name, known, order, figures))
    return parts if brief else [*parts, summary(known, order)]


LISTED, CODE, HELD_BACK, SHARE = "b258e508", "f707d2bf", "6b553e8a", "2bc5c01"
"""The commit that lists the later part, before it was run, that of the library, that of the default of two classes, and that
of the share of the default that is mixed in where it is held back."""


def later_part(results: list[Result]) -> list[str]:
    """The default among other calibrators on the part that was added later. Its line stands for evidence scaling."""
    ranked = [one for one in results if one.method != NEW]
    n_classes = [one.n_classes for one in results if one.n_classes > 2]
    sets = {two: len({one.data_set for one in results if (one.n_classes == 2) == two}) for two in GROUPS}
    parts = [
        "## Data sets added later, with other classifiers",
        f"{len({(one.data_set, one.model) for one in results})} tables of predictions: {sets[True]} data sets of two classes, "
        f"{sets[False]} of more ({min(n_classes)} to {max(n_classes)}). Eight classifiers made them that no other part has. "
        f"Sets and classifiers were listed in commit {LISTED} before any was run, and the library is that of commit {CODE}. "
        f"Drawn: {drawn(draws_of(results))}. The methods are fewer than above, and "
        f"{shown(DEFAULT)}, which is what `calibrant fit` takes, is ranked in the place of {shown(NEW)}.",
        f"**Changed afterwards:** with 1,000 rows of two classes the default was the method by itself, with rank 5.1 and harm "
        f"in 3 %. Since commit {HELD_BACK} two classes are held back below {SAFE_BELOW_OF_TWO:,} rows, and this line was run "
        "again. The sets for design say the same (3.1 % and 0.5 %), but that figure was known then, so the new one flatters. "
        f"Since commit {SHARE} a share of 0.005 of the method is mixed in where it is held back, and these lines were run "
        "again, but for 28 experiments of 5 data sets, of which newer packages make other forecasts. The share was chosen on "
        "the sets for design. Before, the default had mean rank 6.6 and 5.8 with 50 and 100 rows of two classes, and 4.3 and "
        "3.7 of more.",
    ]
    for two, group in GROUPS.items():
        parts += section(f"{group}, added later", tables_of(ranked, two), brief=False)
    networks = [one for one in ranked if one.model == DEEP.replace(" ", "-")]
    known = enough({size: Table(tuple(one for one in networks if one.rows == size)) for size in draws_of(networks)})
    return [
        *parts,
        "### Networks, added later",
        f"The {len({one.data_set for one in networks})} networks alone (three hidden layers of 128, 100 passes, no "
        "penalty), of two classes and of more.",
        grid("mean rank", known, in_order(known), lambda t: [interval(one, "{:.1f}") for one in mean_rank(t)]),
        *by_gain(results, ranked, ", added later"),
        "### With few rows, added later",
        with_few_rows(results),
    ]


def again(results: list[Result]) -> str:
    """How far the new line of the default is from the old one of its method, where it is that method by itself."""
    losses: dict[tuple[str, str, int], dict[str, float]] = defaultdict(dict)
    for one in results:
        if not default_method(one.n_classes, one.rows).safe and one.method in (DEFAULT, NEW):
            losses[one.experiment][one.method] = one.logloss
    change = [of[DEFAULT] - of[NEW] for of in losses.values() if len(of) == 2]
    return (
        "Where both are the same method, their log losses agree to five digits in "
        f"{sum(abs(one) < 5e-6 for one in change)} of {len(change)} tables and sizes; the largest difference is "
        f"{np.max(np.abs(change)):.5f}."
    )


GAINS = (-np.inf, 0.01, 0.02, 0.05, np.inf)
"""Nats that the best method gains, between which harm is counted apart."""


def by_gain(results: list[Result], ranked: list[Result], when: str = "") -> list[str]:
    """The default by rows, and harm apart for tables with little and with much to gain."""
    parts, run = [], {one.experiment for one in results if one.method == DEFAULT}
    of_run, of_ranked = ([one for one in some if one.experiment in run] for some in (results, ranked))
    for two, group in GROUPS.items():
        tables, best_of = enough(tables_of(of_run, two)), enough(tables_of(of_ranked, two))
        lines = []
        for size, one in tables.items():
            column, best = one.column(DEFAULT), np.nanmin(best_of[size].losses, axis=1)
            gain = one.losses[:, one.column(NONE)] - best
            shares = []
            for low, high in pairwise(GAINS):
                rows = (gain > low) & (gain <= high)
                each = [one.array("harm")[rows, one.column(m)] for m in (DEFAULT, NEW, "ensemble-temperature")]
                shares.append(" / ".join(percent(x.mean()) for x in each) + f" ({rows.sum()})" if rows.any() else "-")
            figures = [f"{1000 * improvement(one)[column].value:+.1f}", percent(harm(one)[column].value)]
            figures.append(f"{worst(one)[column]:+.3f}")
            lines.append([f"{size:,} ({one.n_sets} sets)", *figures, *shares])
        between = [f"{low:g} to {high:g}" for low, high in pairwise(GAINS[1:-1])]
        ends = [f"up to {GAINS[1]:g}", *between, f"above {GAINS[-2]:g}"]
        head = ["rows", "improvement, thousandths", "harm, %", "worst case, nats", *(f"to gain {end}" for end in ends)]
        parts += [f"### The default: {group.lower()}{when}", table(head, lines)]
    if when:
        return parts
    return [
        *parts,
        "To gain are the nats by which the best of all methods on these rows is below the log loss without calibration. The "
        f"columns have the harm, in %, of {shown(DEFAULT)}, {shown(NEW)} and {shown('ensemble-temperature')}, and in brackets "
        "the number of tables of predictions. The best of so many methods has luck, so that a little to gain may be none. The "
        f"default was run after the others, on {len(run)} of {len({one.experiment for one in results})} tables and sizes: "
        "where the predictions could not be made again to the last digit, it has no line.",
    ]


def in_order(tables: Tables) -> list[str]:
    """Methods by their mean rank over the sizes."""
    methods = [m for m in next(iter(tables.values())).methods if all(m in t.methods for t in tables.values())]
    ranked = [(t, mean_rank(t)) for t in tables.values()]
    mean = {m: np.mean([of[t.column(m)].value for t, of in ranked]) for m in methods}
    return sorted(methods, key=lambda m: float(mean[m]))


def grid(name: str, tables: Tables, order: list[str], figures: Callable[[Table], Sequence[str]]) -> str:
    """A line a method and a column a size."""
    cells = {size: dict(zip(one.methods, figures(one), strict=True)) for size, one in tables.items()}
    head = [name, *(f"{size:,} rows ({one.n_sets} sets)" for size, one in tables.items())]
    return table(head, [[shown(m), *(cells[size][m] for size in tables)] for m in order])


def verdict(size: int, one: Table) -> str:
    """Who leads with so many rows, and who is level with the leader."""
    if one.n_sets < FEWEST_SETS:
        return f"**{size:,} rows**: {one.n_sets} data sets, too few for a claim."
    first, level = leaders(one)
    order = sorted(zip(mean_rank(one), one.methods, strict=True), key=lambda both: both[0].value)
    (best, _), (_, second) = order[0], order[1]
    gap = differences(one, ranks, first)[second]
    says = f"**{size:,} rows**, {one.n_sets} data sets: {shown(first)} has the lowest mean rank, {best.value:.1f}. "
    if level:
        named = ", ".join(shown(m) for m in level[:BEST]) + f" and {len(level) - BEST} more" * (len(level) > BEST)
        return says + f"Higher by an amount whose interval includes 0: {named}."
    return says + f"That of the second, {shown(second)}, is higher by {interval(gap, '{:.1f}')}."


def summary(tables: Tables, order: list[str]) -> str:
    """Figures over all sizes together."""
    every = Table(tuple(r for one in tables.values() for r in one.results))
    found = {
        "win rate": [interval(one, "{:.2f}") for one in win_rate(every)],
        "Brier, thousandths": [f"{1000 * one.value:+.1f}" for one in improvement(every, "brier")],
        "of which refinement": [f"{1000 * one.value:+.1f}" for one in improvement(every, "refinement")],
        "accuracy, %": [f"{100 * one.value:+.2f}" for one in improvement(every, "accuracy")],
        "worst case, nats": [f"{value:+.3f}" for value in worst(every)],
        "median time, ms": [f"{1000 * value:.3g}" for value in seconds(every)],
    }
    lines = {m: [cells[every.column(m)] for cells in found.values()] for m in order}
    return table(["all these sizes", *found], [[shown(m), *cells] for m, cells in lines.items()])


# The picture


def draw(results: list[Result], path: Path, most: int = 6) -> None:
    """Mean rank by the number of rows, of the calibrators of the library that are best over the sizes, with intervals."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    from calibrant import drawing
    from tools.make_gallery import save_picture

    known: dict[str, int] = {}
    figure, axes = plt.subplots(1, 2, figsize=(9.0, 3.8), layout="constrained")
    for ax, (two, group) in zip(axes, GROUPS.items(), strict=True):
        tables = enough(tables_of(results, two))
        ax.set_title(group, fontsize="medium")
        ax.set_xlabel("rows to calibrate on")
        ax.set_ylabel("mean rank by log loss (1 is best)")
        mine = [method for method in in_order(tables) if method not in PEERS]  # most peers are the same methods
        for i, method in enumerate(mine[:most]):
            of = [mean_rank(t)[t.column(method)] for t in tables.values()]
            x = np.array(list(tables)) * 1.03 ** (i - most / 2)
            spread = [[one.value - one.low for one in of], [one.high - one.value for one in of]]
            number = known.setdefault(method, len(known))
            style = {"color": drawing.COLOURS[number], "marker": drawing.MARKERS[number]}
            ax.errorbar(x, [one.value for one in of], yerr=spread, label=method, lw=1.2, ms=4, capsize=2, **style)
        ax.set_xscale("log")
        ax.set_xticks(list(tables), [f"{size:,}" for size in tables])
        ax.minorticks_off()
        ax.legend(fontsize="small", frameon=False, ncols=3, loc="upper center", bbox_to_anchor=(0.5, -0.2))
    save_picture(figure, path)


def whole_page(results: dict[str, list[Result]], later: list[Result]) -> str:
    """Return the page with the picture, which is drawn only of data sets that were kept apart."""
    text = "\n\n".join([page(results).rstrip("\n"), *later_part(later)]) + "\n"
    shown = f"![Mean rank of calibrators of this library by the number of rows](images/{PICTURE.name})"
    return text.replace(f"## {PARTS[KEPT_APART]}\n", f"{shown}\n\n## {PARTS[KEPT_APART]}\n")


def main() -> None:
    """Write the page; the recommendations and the picture from data sets that were kept apart."""
    results = {part: stored(part) for part in PARTS}
    text, apart = whole_page(results, stored(LATER)), counted_once(results)[KEPT_APART]
    draw(apart, PICTURE)
    taken = {"calibrators": recommendations(apart), "evidence-scaling": of_evidence_scaling(results[KEPT_APART])}
    for name, block in taken.items():
        guide = DOCS / f"{name}.md"
        guide.write_text(put(guide.read_text(encoding="utf-8"), block), encoding="utf-8")
    PAGE.write_text(text, encoding="utf-8")
    sys.stdout.write(f"{PAGE.relative_to(DOCS.parent)}: {len(text.splitlines())} lines\n")


if __name__ == "__main__":
    main()
