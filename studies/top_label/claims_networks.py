"""What the paper says of networks, asked of the one whose logits are at hand: a ResNet-50 on CIFAR-10."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from studies.claims import Claim, Verdict
from studies.judging import on_several
from studies.top_label import judges
from studies.top_label.differences import DRAWS, difference, ratios
from studies.top_label.networks import estimate, of_metric, printed

NETWORK = "ResNet-50 on CIFAR-10"
SEVERAL = "on every one of several networks; the paper has"
FIGURE = "Fig. 3"
"""conf-ECE and TL-ECE of four networks on CIFAR-10."""

TWICE = ("Base", "TS", "TL-HB (50)")
"""Methods whose ratio of TL-ECE to conf-ECE is shown."""


def on_the_network(
    key: str, where: str, sentence: str, target: str, measure: Callable[[], Mapping[str, Any]],
    judge: Callable[..., Verdict], words: Callable[..., str],
) -> Claim:  # fmt: skip
    """Return a claim about networks, undecided until there are several."""
    return Claim(
        key=key,
        where=where,
        sentence=sentence,
        target=f"{target}, {SEVERAL} {'four in this figure' if where == FIGURE else 'eight'}",
        says=Verdict.OPEN,
        measure=lambda: {"networks": [dict(measure())]},
        judge=on_several(judge),
        words=lambda networks: (
            f"On one network, {NETWORK}, which does not decide it: " + "; ".join(words(**one) for one in networks)
        ),
    )


# Measures


def corrected(metric: str) -> dict[str, float]:
    """Return the bias-corrected figure of each method that the paper has; of both TL-HB that with 50 points a bin."""
    return {n: estimate(n, metric).debiased or 0.0 for n in of_metric(metric) if n != "TL-HB (100)"}


def paper(metric: str) -> dict[str, float]:
    """Return the paper's figures."""
    return {name: printed(name, metric) for name in of_metric(metric) if name != "TL-HB (100)"}


def order(metric: str) -> Callable[[], dict[str, Any]]:
    """Return a measure of the order of the methods."""
    return lambda: {"found": corrected(metric), "printed": paper(metric)}


def maxima() -> dict[str, Any]:
    """Return the TL-MCE of each method, what the paper prints, and the p-value under calibration."""
    of = {name: estimate(name, "TL-MCE") for name in of_metric("TL-MCE") if name != "TL-HB (100)"}
    return {
        "found": {name: e.value for name, e in of.items()},
        "printed": paper("TL-MCE"),
        "pvalue": {name: e.pvalue for name, e in of.items()},
    }


def against(metric: str, *pairs: tuple[str, str]) -> Callable[[], dict[str, Any]]:
    """Return a measure of the bias-corrected figures, and of differences of pairs."""
    return lambda: {
        "found": {name: estimate(name, metric).debiased or 0.0 for name in of_metric(metric)},
        "differences": {f"{one} less {other}": difference(one, other, metric) for one, other in pairs},
    }


# Words


def of_order(found: judges.Figures, printed: judges.Figures, pvalue: Mapping[str, float] | None = None) -> str:
    """Return both orders, and how many pairs stand."""
    here, there = (", ".join(sorted(of, key=lambda name: of[name])) for of in (found, printed))
    stand = judges.pairs(found, printed)
    text = f"lowest first, here {here}; the paper {there}; {sum(stand)} of {len(stand)} pairs stand"
    if pvalue is not None:
        noise = [name for name, p in pvalue.items() if p > 0.05]
        text += f". With the scores of {', '.join(noise)} calibrated predictions show as much (p above 0.05)"
    return text


def of_differences(found: judges.Figures, differences: Mapping[str, Mapping[str, float]], times: float = 1.0) -> str:
    """Return differences of pairs, plug-in and bias-corrected."""
    digits = 4 if times == 1.0 else 3
    best = min(found, key=lambda name: found[name])
    shown = "; ".join(
        f"{pair} {times * of['corrected']:+.{digits}f} bias-corrected, {times * of['plug_in']:+.{digits}f} plug-in "
        f"({times * of['error']:.{digits}f})"
        for pair, of in differences.items()
    )
    return f"lowest {best}; {shown}"


def of_hundredths(found: judges.Figures, differences: Mapping[str, Mapping[str, float]]) -> str:
    """Return the same, in hundredths."""
    return f"in hundredths, {of_differences(found, differences, 100.0)}"


def of_ratios(ratios: Mapping[str, Sequence[float]]) -> str:
    """Return the range of ratios, and how many of them are from 2 to 3."""
    return "; ".join(
        f"{name} {min(of):.1f} to {max(of):.1f} times, {sum(2 <= r <= 3 for r in of) / len(of):.0%} of them 2 to 3"
        for name, of in ratios.items()
    )


CLAIMS: tuple[Claim, ...] = (
    on_the_network(
        "two-or-three-times",
        FIGURE,
        "The TL-ECE is often 2 to 3 times the conf-ECE.",
        "more than half of the ratios over 5 to 25 bins are from 2 to 3 for each method",
        lambda: {"ratios": {name: ratios(name) for name in TWICE}},
        judges.two_or_three_times,
        of_ratios,
    ),
    on_the_network(
        "better-than-temperature",
        FIGURE,
        "Top-label histogram binning typically does better than temperature scaling.",
        "its bias-corrected TL-ECE is lower, with 50 and with 100 points a bin",
        against("TL-ECE", ("TL-HB (50)", "TS"), ("TL-HB (100)", "TS")),
        lambda found, differences: judges.each_lower(found, ["TL-HB (50)", "TL-HB (100)"], "TS"),
        of_differences,
    ),
    on_the_network(
        "order-tl-ece",
        "Table 2",
        "The order in the line ResNet-50, CIFAR-10, by TL-ECE.",
        "every pair that the paper tells apart stands as printed, bias-corrected",
        order("TL-ECE"),
        judges.ordered,
        of_order,
    ),
    on_the_network(
        "n-hb-best",
        "Table 2",
        "N-HB has the lowest TL-ECE.",
        "its bias-corrected TL-ECE is the lowest",
        against("TL-ECE", ("N-HB", "TL-HB (50)"), ("N-HB", "TL-HB (100)")),
        lambda found, differences: judges.lowest(found, "N-HB"),
        of_differences,
    ),
    on_the_network(
        "order-tl-mce",
        "Table 2",
        "The order in the line ResNet-50, CIFAR-10, by TL-MCE.",
        "every pair that the paper tells apart stands as printed",
        maxima,
        lambda found, printed, pvalue: judges.ordered(found, printed),
        of_order,
    ),
    on_the_network(
        "tl-hb-lowest-mce",
        "Table 2",
        "On the four CIFAR-10 networks TL-HB has the lowest TL-MCE. (Read off the table: not a sentence of the paper; on "
        "CIFAR-100 TL-HB has it for none.)",
        "its TL-MCE is the lowest, and calibrated predictions with the scores of the others would show less than they "
        "do",
        maxima,
        lambda found, printed, pvalue: (
            judges.lowest(found, "TL-HB (50)") if max(pvalue.values()) <= 0.05 else Verdict.OPEN
        ),
        lambda found, printed, pvalue: (
            f"{', '.join(f'{value:.3f} ({name}, p {pvalue[name]:.2f})' for name, value in found.items())}: most are "
            "noise"
        ),
    ),
    on_the_network(
        "order-cw-ece",
        "Table 3",
        "The order in the line ResNet-50, CIFAR-10, by class-wise ECE.",
        "every pair that the paper tells apart stands as printed, bias-corrected",
        order("CW-ECE"),
        judges.ordered,
        of_order,
    ),
    on_the_network(
        "cw-hb-best",
        "Table 3",
        "Class-wise binning has the lowest class-wise ECE. (The text has TL-HB, the table CW-HB.)",
        "the bias-corrected class-wise ECE of CW-HB is the lowest",
        against("CW-ECE", ("CW-HB", "DS")),
        lambda found, differences: judges.lowest(found, "CW-HB"),
        of_hundredths,
    ),
    on_the_network(
        "n-hb-terrible",
        "Table 3",
        "N-HB performs terribly by class-wise ECE. (In the table it is above no calibration on 5 of 8 networks.)",
        "its bias-corrected class-wise ECE is above that without calibration",
        against("CW-ECE", ("N-HB", "Base")),
        lambda found, differences: judges.each_lower(found, ["Base"], "N-HB"),
        of_hundredths,
    ),
)

NOTE = (
    f"In brackets stands the standard error of the plug-in difference, over {DRAWS} bootstrap draws of the test rows, "
    "the same for both methods. It does not hold what another calibration set, or another network, would change."
)
