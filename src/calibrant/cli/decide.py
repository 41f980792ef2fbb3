"""`calibrant decide`: from probabilities and costs to decisions."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from calibrant.cli.inputs import labels_of, read, values_of, weight_of


def run_decide(arguments: argparse.Namespace) -> int:
    """Print what the decisions of least expected cost are; with labels, what they cost."""
    from calibrant.decisions.confusion import confusion_table
    from calibrant.decisions.decide import decide
    from calibrant.interop.columns import Values
    from calibrant.interop.tables import format_of, require_csv, write_table
    from calibrant.interop.writing import require_free

    if arguments.output:
        require_free(Path(arguments.output), force=arguments.force, inputs=[arguments.file])
        format_of(arguments.output)
        if arguments.escape_formulas:
            require_csv(arguments.output)
    forecast = read(arguments, arguments.file, label_optional=True)
    values, given = _for_new_priors(arguments, values_of(arguments, forecast), forecast.input)
    cost = _costs(arguments.costs, n_classes=2 if values.ndim == 1 else values.shape[1])
    options: dict[str, Any] = {
        "extra": arguments.extra.split(",") if arguments.extra else None,
        "labels": labels_of(arguments, forecast),
        "input": given,
    }
    found = decide(values, cost, **options)
    if cost.shape == (2, 2):
        print(f"class {found.names[1]} from a probability of {_threshold(cost):.6g} on")
    if forecast.label_column is None:
        print(found)
    else:
        weight = weight_of(arguments, forecast)
        print(confusion_table(forecast.y_true, values, cost_matrix=cost, sample_weight=weight, **options))
    if arguments.output:
        new = {"decision": Values(found.named.astype(str)), "expected_cost": Values(found.expected_cost)}
        if taken := [name for name in new if name in forecast.table]:
            raise ValueError(
                f"new columns need names of their own; {arguments.file} already has {', '.join(taken)}. "
                "Rename or remove these columns."
            )
        table, escape = forecast.table.extended(new), arguments.escape_formulas
        write_table(arguments.output, table, force=arguments.force, escape_formulas=escape)
        print(f"wrote {arguments.output}: {len(found.decision)} rows, decision and expected_cost")
    return 0


def _for_new_priors(arguments: argparse.Namespace, values: Any, given: str) -> tuple[Any, Any]:
    from calibrant.decisions.prior_shift import shift_prior

    if arguments.old_prior is None and arguments.new_prior is None:
        return values, given
    if arguments.old_prior is None or arguments.new_prior is None:
        raise ValueError("--old-prior and --new-prior must be given together; one is missing. Give both, or neither.")
    old, new = _numbers("--old-prior", arguments.old_prior), _numbers("--new-prior", arguments.new_prior)
    return shift_prior(values, old_prior=old, new_prior=new, input=given), "probability"  # type: ignore[arg-type]


def _costs(text: str | None, *, n_classes: int) -> Any:
    import numpy as np

    if text is None:
        return 1.0 - np.eye(n_classes)
    rows = [_numbers("--costs", row) for row in text.split(";")]
    if len({np.size(row) for row in rows}) > 1:
        raise ValueError(f"--costs must have rows of one length; got {text!r}. For two classes: '0,4;1,0'.")
    return np.atleast_2d(np.array(rows, dtype=float))


def _threshold(cost: Any) -> float:
    from calibrant.decisions.threshold import optimal_threshold

    (true_negative, false_positive), (false_negative, true_positive) = cost.tolist()
    return optimal_threshold(
        false_positive, false_negative, cost_true_negative=true_negative, cost_true_positive=true_positive
    )


def _numbers(option: str, text: str) -> float | list[float]:
    """Numbers between commas; one alone is a number."""
    try:
        numbers = [float(part) for part in text.split(",")]
    except ValueError:
        raise ValueError(
            f"{option} must be numbers between commas; got {text!r}. For two classes: --costs '0,4;1,0', --new-prior 0.1."
        ) from None
    return numbers if len(numbers) > 1 else numbers[0]
