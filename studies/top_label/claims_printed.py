"""What the paper says of its own Tables 2 and 3, asked of these tables."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from studies.claims import Numbers
from studies.printed import Lines, comparing, gaps, in_words, on_every, on_every_or_tied, on_most, read

PRINTED = Path(__file__).with_name("printed.csv")
OTHERS = ("Base", "TS", "VS", "DS")


def lines(metric: str, **wanted: str) -> Lines:
    """Printed figures by network and method: HB of the file is TL-HB, and CW-HB in the class-wise ECE, in hundredths."""
    own = "CW-HB" if metric == "CW-ECE" else "TL-HB"
    found = read(PRINTED, "line", 4, metric=metric, **wanted)
    return {line: {own if name == "HB" else name: value for name, value in of.items()} for line, of in found.items()}


def measure_typically() -> Numbers:
    """TL-HB less TS on the networks of Fig. 3, and beside them on the others."""
    of = {name: gaps(lines("TL-ECE", data_set=name), "TL-HB", ("TS",)) for name in ("CIFAR-10", "CIFAR-100")}
    gap, beside = ({f"TL-ECE: TL-HB before TS, {name}": of[name]} for name in of)
    return {"gaps": gap, "beside": beside}


compared = partial(comparing, lines)

FUNCTIONS = {
    "n-hb-best-printed": (compared(("TL-ECE", "N-HB", (*OTHERS, "TL-HB"), "all others")), on_every, in_words),
    "better-than-temperature-printed": (measure_typically, on_most, in_words),
    "cw-hb-best-printed": (compared(("CW-ECE", "CW-HB", (*OTHERS, "N-HB"), "all others")), on_every_or_tied, in_words),
    "n-hb-terrible-printed": (
        compared(*(("CW-ECE", one, ("N-HB",), "N-HB") for one in ("CW-HB", "VS", "Base"))),
        on_most,
        in_words,
    ),
}
