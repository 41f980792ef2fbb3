"""The page of what there is: the registry as tables, from the declarations that the command line and the law tests read."""

from calibrant._core.registry import GUARANTEES, HOMES, Entry, entries
from calibrant.metrics.kinds import metric_named

HEAD = (
    "# What there is\n\nEvery metric, test, notion, binning and calibrator, by the word that `assess`, `calibrant fit` and the "
    "other functions and commands know it by. `calibrant list` prints the same.\n\n"
)


def row(cells: list[str]) -> str:
    """Return a row of a table."""
    return "| " + " | ".join(cells) + " |"


def detail(kind: str, name: str, entry: Entry) -> list[str]:
    """Return the range of a metric, the guarantees of a calibrator, and nothing of others."""
    if kind == "metric":
        metric = metric_named(name)
        better = "higher" if metric.higher_is_better else "lower"
        wanted = f"{better} is better" if metric.ideal is None else f"ideally {metric.ideal:g}"
        return ["{:g} to {:g}, {}".format(*metric.range, wanted)]
    return ["; ".join(sorted(entry.guarantees)) or "none"] if kind == "calibrator" else []


def page(homes: dict[str, str]) -> str:
    """Return the page; ``homes`` says of each public name where it is described."""
    lines = []
    for kind in HOMES:
        facts = {"metric": "range", "calibrator": "guarantees"}.get(kind)
        head = ["word", "symbol", "what it is", *([facts] if facts else []), "source"]
        lines += [f"## {kind.capitalize()}s", "", row(head), row(["---"] * len(head))]
        for name, entry in entries(kind).items():
            public = entry.target.__name__
            word = f"{{py:obj}}`{name} <{homes[public]}>`" if public in homes else f"`{name}`"
            lines.append(row([word, entry.symbol, entry.summary, *detail(kind, name, entry), entry.source]))
        lines.append("")
    lines += ["## What a calibrator can promise", "", row(["guarantee", "meaning"]), row(["---", "---"])]
    lines += [row([name, meaning]) for name, meaning in GUARANTEES.items()]
    return HEAD + "\n".join(lines) + "\n"
