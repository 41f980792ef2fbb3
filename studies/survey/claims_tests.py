"""What the survey computes in section 6: Table 8, equation 21 and Algorithm 1."""

from __future__ import annotations

import warnings
from typing import Any

from calibrant import hosmer_lemeshow_test
from calibrant.datasets import load_survey_table_3
from calibrant.significance import resampling_test
from studies.claims import Claim, Verdict
from studies.judging import CLEAR
from studies.survey.printed import decimal, entries, exact, figure

CLASSES = {"labels": [1, 2, 3]}
DRAWS, PRINTED_DRAWS = 20_000, 1000
"""Label sets of the resampling test: here, and in the survey."""

PRINTED_EXPECTED = [
    ("5.9", "0.7", "0.4"), ("3.1", "0.6", "1.3"), ("2.47", "1.77", "2.77"), ("1.1", "3.1", "2.8"), ("0.0", "1.2", "2.8")
]  # fmt: skip
PRINTED_OBSERVED = [(3, 1, 3), (2, 2, 1), (3, 3, 1), (2, 3, 2), (0, 1, 3)]


def hosmer_lemeshow() -> Any:
    """Return the test of Table 8."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # too few rows for the chi-squared law, as the survey says itself
        return hosmer_lemeshow_test(*load_survey_table_3(), n_bins=5, fitted=True, **CLASSES)


def of_groups() -> dict[str, list[str]]:
    """Return the entries of Table 8."""
    test, found = hosmer_lemeshow(), {}
    for b in range(5):
        for j in range(3):
            found[f"group {b + 1}, O of class {j + 1}"] = [exact(test.observed[b, j]), f"{PRINTED_OBSERVED[b][j]}.0"]
            found[f"group {b + 1}, E of class {j + 1}"] = [exact(test.expected[b, j]), PRINTED_EXPECTED[b][j]]
    return found


def resampled() -> dict[str, Any]:
    """Return the p-value of Algorithm 1 on Table 3."""
    how = {"metric": "classwise-ece", "binning": 5, "n_resamples": DRAWS, "strict": True, "correction": False, "rng": 0}
    return {
        "pvalue": resampling_test(*load_survey_table_3(), **how, **CLASSES).pvalue,
        "draws": DRAWS,
        "printed": 0.016,
    }


def one_run(pvalue: float, draws: int, printed: float) -> Verdict:
    """Return whether a p-value of one run of 1000 label sets is one that such a run can give."""
    error = (pvalue * (1 - pvalue) * (1 / PRINTED_DRAWS + 1 / draws)) ** 0.5
    return Verdict.HOLDS if abs(printed - pvalue) <= CLEAR * error else Verdict.FAILS


CLAIMS: tuple[Claim, ...] = (
    entries("table-8", "Table 8", "Observed and expected counts of five groups.", of_groups, Verdict.HOLDS),
    figure("hosmer-lemeshow", "Table 8", "The statistic C is", "25.3", lambda: decimal(hosmer_lemeshow().statistic)),
    figure("hosmer-lemeshow-p", "Table 8", "Its p-value with 6 degrees of freedom is", "0.0003",
           lambda: decimal(hosmer_lemeshow().pvalue)),
    figure("equation-21", "Eq. 21", "As printed, with its summand twice, the equation for C gives", "25.3",
           lambda: decimal(2 * hosmer_lemeshow().statistic), says=Verdict.FAILS),
    Claim(
        key="resampling",
        where="Algorithm 1, Fig. 21",
        sentence="The p-value of the class-wise ECE of Table 3 is about 0.016, from 1000 label sets.",
        target=f"a run of 1000 label sets gives it, within {CLEAR:g} standard errors",
        says=Verdict.HOLDS,
        measure=resampled,
        judge=one_run,
        words=lambda pvalue, draws, printed: (
            f"{pvalue:.4f} with {draws:,} label sets (standard error {(pvalue * (1 - pvalue) / draws) ** 0.5:.4f}); "
            f"one run of {PRINTED_DRAWS} has a standard error of {(pvalue * (1 - pvalue) / PRINTED_DRAWS) ** 0.5:.4f}"
        ),
    ),
)  # fmt: skip
