"""What the paper says of its own Tables 2 and 3, asked of these tables."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from studies.claims import Numbers
from studies.printed import Lines, claim, comparing, gaps, on_every, on_every_or_tied, on_most, read, turned

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

CLAIMS = (
    claim(
        "n-hb-best-printed", "Table 2, as printed", "N-HB has the lowest TL-ECE on both data sets.",
        "lower than each other method on every network", on_every,
        compared(("TL-ECE", "N-HB", (*OTHERS, "TL-HB"), "all others")),
    ),
    claim(
        "better-than-temperature-printed", "Fig. 3, by Table 2 as printed",
        "Top-label histogram binning typically does better than temperature scaling.",
        "a lower TL-ECE on most of the four networks of Fig. 3, which are those on CIFAR-10", on_most, measure_typically,
    ),
    claim(
        "cw-hb-best-printed", "Table 3, as printed",
        "Class-wise binning has the lowest class-wise ECE. (The text calls it TL-HB, which Table 3 does not have.)",
        "no other method is lower on any network", on_every_or_tied,
        compared(("CW-ECE", "CW-HB", (*OTHERS, "N-HB"), "all others")),
    ),
    claim(
        "n-hb-terrible-printed", "Table 3, as printed", "N-HB performs terribly by class-wise ECE.",
        "above CW-HB and VS, and above no calibration, on most networks", on_most,
        compared(*(("CW-ECE", one, ("N-HB",), "N-HB") for one in ("CW-HB", "VS", "Base"))),
    ),
)  # fmt: skip

MUTANTS = {one.key: ("each in the other's place", turned) for one in CLAIMS}
"""What must change the verdict of each: in words, and the numbers that are then others."""
