"""The tests by the words that a user types. Each is loaded when it is first looked up."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from types import MappingProxyType

from calibrant.significance.multiplicity import Test

HOMES: Mapping[str, str] = MappingProxyType(
    {
        "cox": "cox.cox_test",
        "hosmer-lemeshow": "hosmer_lemeshow.hosmer_lemeshow_test",
        "kernel": "kernel.kernel_test",
        "kolmogorov-smirnov": "cumulative.kolmogorov_smirnov_test",
        "kuiper": "cumulative.kuiper_test",
        "pearson": "pearson.pearson_test",
        "resampling": "resampling.resampling_test",
        "spiegelhalter": "spiegelhalter.spiegelhalter_test",
        "equivalence": "equivalence.equivalence_test",
    }
)
"""Tests of one forecast: functions of (y_true, y_prob) that return a `TestResult`."""


class Catalogue(Mapping[str, Test]):
    """Mapping from the name of a test to its function."""

    def __getitem__(self, name: str) -> Test:
        module, _, function = HOMES[name].partition(".")
        found: Test = getattr(importlib.import_module(f"calibrant.significance.{module}"), function)
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(HOMES)

    def __len__(self) -> int:
        return len(HOMES)


TESTS = Catalogue()
"""All tests of one forecast, by name."""
