"""Every calibrator on predictions of your own: python -m studies.arena.try_yours FILE [-o PAGE]

FILE is what `calibrant fit` reads: CSV, Parquet, Feather or NPZ. Calibrators are compared by repeated cross-validation, folds
with the same share of each class, on the same rows. The page is Markdown; the progress is on standard error.
"""

from __future__ import annotations

import argparse
import math
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from scipy import stats
from sklearn.model_selection import RepeatedStratifiedKFold

from calibrant._core.border import as_problem
from calibrant._core.rows import as_simplex
from calibrant.calibrators.classifier import default_method
from calibrant.interop.tables import read_forecast
from studies.arena.cells import ABSENT, NONE, Line, measured, methods, warm_up
from studies.claims import table

FOLDS = 5
HARM = 1e-4
"""A log loss that is higher by more is harm, as in the arena."""

TEXT = """# Calibrators on {file}

`{command}`

{n:,} rows, {k} classes. Cross-validation with {folds} folds: each method was fitted {fits} times to {fitted:,} rows, and
scored on the other {tested:,}.
The default of `calibrant fit` is `{default}` for so many rows.

* **{verdict}**
* **Difference** is the log loss less that of the forecast as it is; below 0 is better. Its 95 % interval is that of a t-test
  whose variance is corrected for folds that share rows (Nadeau and Bengio, 2003). It is for one method: of thirty methods
  one or two have an interval without 0 by chance, and the best of thirty looks better than it is.
* **Rank** is the mean over the fits, 1 is the best. **Harm** is the share of the fits that raised the log loss by more
  than {harm}.
* Log loss is in nats, with probabilities of at least 1e-12. The ECE is of the predicted class, 15 bins of equal width.

{table}
"""


def read(chosen: argparse.Namespace) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers of the classes, and a column of probabilities for each class."""
    found = read_forecast(chosen.file, label=chosen.label, prob=chosen.prob, logit=chosen.logit)
    problem = as_simplex(as_problem(found.y_true, found.y_prob, labels=found.labels(), input=found.input))
    count = np.bincount(problem.label, minlength=problem.classes.size)
    if not (count >= FOLDS).all():
        rare = ", ".join(f"{problem.classes[k]} ({count[k]})" for k in np.flatnonzero(count < FOLDS)[:5])
        raise ValueError(
            f"each class must have {FOLDS} rows or more; got {rare}. Add rows, or leave these classes out."
        )
    return problem.label, problem.prob / problem.prob.sum(axis=1, keepdims=True)


def lines_of(y: np.ndarray, prob: np.ndarray, repeats: int, peers: bool) -> Iterator[tuple[str, list[Line]]]:
    """Yield each method with a line a fit."""
    folds = RepeatedStratifiedKFold(n_splits=FOLDS, n_repeats=repeats, random_state=0)
    splits = list(folds.split(prob, y))
    for name, calibrate in methods(prob.shape[1], peers).items():
        lines = [measured(name, calibrate, (y[fit], prob[fit]), (y[test], prob[test])) for fit, test in splits]
        if lines[0].note != ABSENT:
            yield name, lines


def table_of(found: dict[str, list[Line]]) -> tuple[str, str]:
    """Return the verdict and the table, the lowest mean log loss first and what failed last."""
    loss = {name: np.array([line.logloss for line in lines]) for name, lines in found.items()}
    losses = np.nan_to_num(np.array([*loss.values()]), nan=np.inf)
    ranks = dict(zip(loss, stats.rankdata(losses, axis=0).mean(axis=1), strict=True))
    rows, verdict = [], "These rows show of no method that its log loss is lower than that of the forecast as it is."
    is_open = True
    for name in sorted(found, key=lambda one: (not np.isfinite(loss[one]).all(), loss[one].mean())):
        lines, gain = found[name], loss[name] - loss[NONE]
        if not np.isfinite(loss[name]).all():
            note = next(line.note for line in lines if line.note)
            rows.append([f"`{name}`", note, "", "", "", "", "", ""])
            continue
        least, most = interval(gain)
        if most < 0.0 and is_open:
            first = "the lowest log loss" if not rows else "the lowest log loss of those whose interval is below 0"
            verdict = (
                f"`{name}` has {first}, {loss[name].mean():.4f}; the forecast as it is has {loss[NONE].mean():.4f}."
            )
            is_open = False
        means = [np.mean([getattr(line, what) for line in lines]) for what in ("logloss", "brier", "ece", "seconds")]
        difference = "" if name == NONE else f"{gain.mean():+.4f} ({least:+.4f} to {most:+.4f})"
        harm, scores = f"{np.mean(gain > HARM):.0%}", (f"{mean:.4f}" for mean in means[1:3])
        rows.append(
            [f"`{name}`", f"{means[0]:.4f}", difference, f"{ranks[name]:.1f}", harm, *scores, f"{means[3]:.2g}"]
        )
    head = ["method", "log loss", "difference (95 %)", "rank", "harm", "Brier", "ECE", "seconds"]
    return verdict, table(head, rows)


def interval(gain: np.ndarray) -> tuple[float, float]:
    """The corrected 95 % interval of the mean difference over the fits: folds share rows, so they vary too little."""
    n = gain.size
    reach = stats.t.ppf(0.975, n - 1) * math.sqrt((1.0 / n + 1.0 / (FOLDS - 1)) * gain.var(ddof=1))
    return float(gain.mean() - reach), float(gain.mean() + reach)


def main(words: list[str] | None = None) -> None:
    """Compare, and write the page."""
    parser = argparse.ArgumentParser(prog="python -m studies.arena.try_yours", description=__doc__)
    parser.add_argument("file", help="labels, and probabilities or logits: a row a prediction")
    for option in ("label", "prob", "logit"):
        parser.add_argument(f"--{option}", help=f"columns of the {option}, as in `calibrant fit`")
    how_many = "how many times the folds are drawn, 1 to 100 (default: 2)"
    parser.add_argument("--repeats", type=int, choices=range(1, 101), metavar="N", default=2, help=how_many)
    parser.add_argument("--no-peers", action="store_true", help="calibrators of this package alone")
    parser.add_argument("-o", "--output", type=Path, help="where the page goes (default: standard output)")
    chosen = parser.parse_args(words)
    try:
        y, prob = read(chosen)
    except (OSError, TypeError, ValueError) as error:
        parser.exit(2, f"{error}\n")
    warm_up()
    found = {}
    for number, (name, lines) in enumerate(lines_of(y, prob, chosen.repeats, not chosen.no_peers), 1):
        found[name] = lines
        sys.stderr.write(f"{number} {name}\n")
    verdict, listed = table_of(found)
    n, k = prob.shape
    default = default_method(k, n - n // FOLDS).calibrator(k)
    command = shlex.join(["python", "-m", "studies.arena.try_yours", *(sys.argv[1:] if words is None else words)])
    page = TEXT.format(
        file=Path(chosen.file).name, command=command, n=n, k=k, folds=FOLDS, fits=FOLDS * chosen.repeats,
        fitted=n - n // FOLDS, tested=n // FOLDS, default=default, harm=HARM, verdict=verdict, table=listed,
    )  # fmt: skip
    if chosen.output is None:
        sys.stdout.write(page)
    else:
        chosen.output.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
