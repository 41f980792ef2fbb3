"""What guarantees share: statements, each with its bound and the probability with which it holds."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from calibrant._core.result import Result, frame

Statement = tuple[str, float, float]
"""What is bounded, the bound, and the probability with which it holds; NaN where it holds on average."""


class Statements(Result, ABC):
    """A guarantee that is a list of statements."""

    @abstractmethod
    def _head(self) -> str: ...

    @abstractmethod
    def _statements(self) -> list[Statement]: ...

    def to_frame(self, backend: str | None = None) -> Any:
        """Return a data frame, a row a statement.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            By default the first that is installed.

        Returns
        -------
        DataFrame
            Columns statement, bound, probability (with which it holds; NaN where it holds on average).
        """
        statement, bound, probability = zip(*self._statements(), strict=True)
        return frame({"statement": statement, "bound": bound, "probability": probability}, backend)

    def __str__(self) -> str:
        return "\n".join([self._head(), *lines_of(self._statements())])


def lines_of(statements: list[Statement]) -> list[str]:
    """Statements, their bounds and when they hold, in columns."""
    wide = max(len(statement) for statement, _, _ in statements)
    return [
        f"  {statement:<{wide}}  <= {bound:<7.4g} {f'with probability {p:g}' if p == p else 'on average'}"
        for statement, bound, p in statements
    ]
