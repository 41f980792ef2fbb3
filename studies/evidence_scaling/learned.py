"""Does a prior of precisions that is learned anew win? python -m studies.evidence_scaling.learned

For each data set the constants are learned from the precisions.csv of all others, and ES is fitted with them to the rows of the
first draw of small.py, whose figures must be there. Printed is the change of the log loss in thousandths of a nat, with an
interval over data sets.
"""

from __future__ import annotations

import sys
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from calibrant import log_loss
from calibrant.calibrators import EvidenceScaling
from calibrant.calibrators import evidence_features as models
from calibrant.calibrators.evidence_features import prior_of
from studies.evidence_scaling import small
from studies.evidence_scaling.__main__ import calibrated
from studies.evidence_scaling.precisions import OfKind, constants, forecasts, read
from studies.markdown import table


@contextmanager
def prior(normals: OfKind) -> Iterator[None]:
    """ES with other constants."""

    def other(groups: Mapping[str, Any], n_classes: int, exponent: float) -> Any:
        return prior_of(normals[n_classes == 2], n_classes, exponent)

    models.prior_of = other
    try:
        yield
    finally:
        models.prior_of = prior_of


def changes() -> Iterator[tuple[str, bool, int, float]]:
    """Data set, whether there are two classes, rows, and the change of the log loss."""
    known = {tuple(line[:4]): float(line[-1]) for line in small.lines() if line[4] == "0"}
    found = read()
    for name, model, prob, y in forecasts():
        for n in small.DRAWS:
            before = known.get((name, model, str(prob.shape[1]), str(n)))
            if before is None:
                continue
            order = np.random.default_rng([0, n, zlib.crc32(f"{name}/{model}".encode())]).permutation(len(y))
            rows, rest = order[:n], order[n : n + small.MOST_TESTED]
            with prior(constants([one for one in found if one.data_set != name])):
                loss = float(log_loss(y[rest], calibrated(EvidenceScaling(), prob, y, rows, rest)))
            yield name, prob.shape[1] == 2, n, loss - before


def report(found: list[tuple[str, bool, int, float]]) -> str:
    """Mean change over data sets."""
    body = []
    for word, of_two in (("two", True), ("more", False)):
        for n in small.DRAWS:
            part = [one for one in found if one[1] == of_two and one[2] == n]
            names = np.array([one[0] for one in part])
            change = np.array([one[3] for one in part])
            of_sets = np.array([change[names == name].mean() for name in np.unique(names)])
            body.append([word, f"{n}", f"{len(of_sets)}", small.interval(1e3 * of_sets)])
    return table(["classes", "rows", "sets", "change, 1/1000"], body)


def main() -> None:
    """Run, and print the table."""
    sys.stdout.write(report(list(changes())) + "\n")


if __name__ == "__main__":
    main()
