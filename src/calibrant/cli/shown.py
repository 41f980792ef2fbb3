"""A forecast of a file as a command shows it: what it is called, its numbers, and the order of its classes."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from calibrant.cli.inputs import labels_of, pos_label_of, values_of, weight_of

if TYPE_CHECKING:
    from calibrant._core.links import FloatArray
    from calibrant._core.problem import Problem
    from calibrant._core.validation import Input
    from calibrant.interop.files import ForecastTable


@dataclass(frozen=True, eq=False)
class Shown:
    """A forecast of a report: the file that it is from, and its numbers, calibrated or as they are."""

    name: str
    forecast: ForecastTable
    values: FloatArray
    input: Input = "probability"

    @classmethod
    def of(cls, arguments: argparse.Namespace, name: str, forecast: ForecastTable) -> Shown:
        """Return the forecast of a file as it is."""
        return cls(name, forecast, values_of(arguments, forecast), forecast.input)

    def problem(self, arguments: argparse.Namespace) -> Problem:
        """Return what the figures of the report are of: logits stay logits, whose log loss is exact."""
        from calibrant._core.validation import as_problem

        data = data_of(arguments, self.forecast) | {"input": self.input}
        return as_problem(self.forecast.y_true, self.values, **data)


def aligned(arguments: argparse.Namespace, forecasts: list[ForecastTable]) -> list[ForecastTable]:
    """Put the columns of all forecasts in one order of classes, so that figures beside one another are of the same event.

    It is the order of the first forecast, or of the first that has one column, as that cannot be turned.
    """
    if len(forecasts) < 2 or arguments.classes is not None:
        return forecasts
    leader = next((forecast for forecast in forecasts if len(forecast.forecast_columns) == 1), forecasts[0])
    return [_in_order(arguments, forecast, _columns(arguments, leader)) for forecast in forecasts]


def _in_order(arguments: argparse.Namespace, forecast: ForecastTable, classes: list[Any]) -> ForecastTable:
    from dataclasses import replace

    own = _columns(arguments, forecast)
    if len(forecast.forecast_columns) == 1 or own == classes or set(own) != set(classes):
        return forecast
    return replace(forecast, forecast_columns=tuple(forecast.forecast_columns[own.index(c)] for c in classes))


def _columns(arguments: argparse.Namespace, forecast: ForecastTable) -> list[Any]:
    """Return the class of each column; of one column no event, and the event."""
    from calibrant._core.validation import as_problem

    data = data_of(arguments, forecast)
    if len(forecast.forecast_columns) > 1:
        data["pos_label"] = None
    classes: list[Any] = as_problem(forecast.y_true, values_of(arguments, forecast), **data).classes.tolist()
    return classes


def event_label(arguments: argparse.Namespace, forecast: ForecastTable) -> Any:
    """Return the label of the event where the command has a word for it: `calibrant fit` names classes in place of it."""
    return pos_label_of(arguments, forecast) if hasattr(arguments, "pos_label") else None


def data_of(arguments: argparse.Namespace, forecast: ForecastTable) -> dict[str, Any]:
    """Return the options of a function of the library for the forecast of a file."""
    return {
        "sample_weight": weight_of(arguments, forecast),
        "labels": labels_of(arguments, forecast),
        "pos_label": event_label(arguments, forecast),
        "input": forecast.input,
    }
