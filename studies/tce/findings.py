"""What the paper on test-based calibration error says of its tables, held against many draws of their data."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.stats import kendalltau

from studies.markdown import table
from studies.tce.imagenet import NETWORKS, agreeing, seconds_of_tce
from studies.tce.monitoring import at as monitored
from studies.tce.null import at_prevalence, at_size
from studies.tce.paper import PRINTED, SECONDS
from studies.tce.seeds import SEEDS, drawn
from studies.tce.tables import TABLES

REASONABLE = 50.0
"""Points by which the mean TCE of the miscalibrated model must exceed that of the calibrated one to be reasonable."""

SURE, MOSTLY = 0.95, 0.5
"""Shares of draws from which on an order of one draw holds, and mostly holds."""

LEVEL = 5.0
FAR = 2.0
"""Ratio from which on two means are not the same scale."""

Row = tuple[str, Callable[[], tuple[str, str]]]


def findings() -> str:
    """The paper's statements, what came out, and a verdict of each."""
    rows: list[Row] = [
        ("The ECE of 1 % - 0 % is smaller than that of 50 % - 50 % (4.1).", _ece_of_rare),
        ("ECE and ACE of rare events can be as small as those of a calibrated model, TCE not (4.1).", _order),
        ("TCE has a consistent scale, unaffected by class imbalance (abstract).", _scale),
        ("If all that is tested is true, TCE is the level in expectation (3.2).", _null),
        ("N_min up to 600 is reasonable, 3000 is not (Table 6).", lambda: _range(6, range(6), range(6, 7))),
        ("N_max from 300 on is reasonable, up to 60 it is not (Table 7).", lambda: _range(7, range(3, 7), range(3))),
        ("Sizes that make 5 to 20 bins are the most reasonable (Table 8).", _best_sizes),
        ("All metrics feel noise alike; they break down between 0.1 and 0.5 (Table 9).", _noise),
        ("Levels up to 0.1 are reasonable, 0.5 is not (Table 10).", lambda: _range(10, range(5), range(5, 6))),
        ("The binomial test does better than the t-test (Table 11).", _t_test),
        (
            "From 3000 rows on TCE is reasonable, up to 600 it is not (Table 12).",
            lambda: _range(12, range(4, 8), range(4)),
        ),
        ("Table 13: TCE(P) is better than TCE(Q) and TCE(V) in all lines.", _all_better),
        ("Five networks are largely ranked alike by TCE and by other metrics (Table 5).", _networks),
        ("50,000 predictions take 71.78 s (Table 5).", _time),
    ]
    return table(["the paper says", "computed here", "verdict"], [[claim, *found()] for claim, found in rows])


def holds(share: float) -> str:
    """Verdict of an order that is seen in a share of the draws."""
    return "**confirmed**" if share >= SURE else "**mostly**" if share > MOSTLY else "**refuted**"


def _ece_of_rare() -> tuple[str, str]:
    share = float(np.mean(drawn(2, 4, "ECE") < drawn(2, 0, "ECE")))
    return (
        f"In {share:.0%} of {SEEDS} draws; means {drawn(2, 4, 'ECE').mean():.4f} and {drawn(2, 0, 'ECE').mean():.4f}",
        (holds(share)),
    )


def order_share(metric: str) -> float:
    """How often a miscalibrated model of rare events is above a calibrated one of frequent events, over all pairs."""
    wrong = np.concatenate([drawn(2, line, metric) for line in (4, 5)])
    return float(np.mean(wrong[:, None] > drawn(2, 0, metric)[None, :]))


def _order() -> tuple[str, str]:
    shares = {metric: order_share(metric) for metric in ("TCE(P)", "TCE(Q)", "ECE", "ACE")}
    text = "A miscalibrated model of rare events has more than the calibrated one of frequent events in "
    text += ", ".join(f"{share:.0%} of the pairs by {metric}" for metric, share in shares.items())
    best = min(shares["TCE(P)"], shares["TCE(Q)"])
    return text, holds(best if best > max(shares["ECE"], shares["ACE"]) else 0.0)


def scale_of(forecast: str, metric: str) -> tuple[float, float]:
    """Mean of a metric at prevalences of one half and of one in a hundred."""
    return float(monitored(0.5, forecast, metric).mean()), float(monitored(0.01, forecast, metric).mean())


def _scale() -> tuple[str, str]:
    (tce, rare), (ece, small) = scale_of("shifted", "TCE(P)"), scale_of("shifted", "ECE")
    text = (
        f"Log-odds too high by one half: TCE {tce:.0f} at 50 % and {rare:.0f} at 1 %, with as many rows; ECE {ece:.4f} and "
        f"{small:.4f}. TCE falls to 1 in {tce / rare:.0f}, ECE to 1 in {ece / small:.0f}"
    )
    is_one_scale = tce / rare < FAR
    return text, "**confirmed**" if is_one_scale else "**not here**, for a forecast equally wrong in log-odds"


def _null() -> tuple[str, str]:
    half = {name: at_prevalence(0.5)[name, "binomial"].mean() for name in ("TCE(P)", "TCE(Q)", "TCE(V)")}
    rare, many = at_prevalence(0.01)["TCE(P)", "binomial"].mean(), at_size(30_000)["TCE(Q)"].mean()
    text = "True probabilities, 6000 rows: " + ", ".join(f"{name} {value:.1f}" for name, value in half.items())
    text += f" at 50 %; TCE(P) {rare:.1f} at 1 %; with 30,000 rows TCE(Q) {many:.0f} at 50 %"
    is_level = max(*half.values(), many) < FAR * LEVEL
    return text, "**confirmed**" if is_level else "**does not apply**: predictions of a bin differ"


def apart(number: int, i: int, metric: str = "TCE(P)") -> float:
    """Mean TCE of the miscalibrated model less that of the calibrated one."""
    half = len(TABLES[number].lines) // 2
    return float(drawn(number, half + i, metric).mean() - drawn(number, i, metric).mean())


def _range(number: int, good: range, bad: range) -> tuple[str, str]:
    """Whether the models are well apart in some lines and not in others."""
    inside, outside = [apart(number, i) for i in good], [apart(number, i) for i in bad]
    text = f"The models are {min(inside):.0f} to {max(inside):.0f} points apart, elsewhere {_from_to(outside)}"
    if number == 12:
        grown = drawn(12, 7, "TCE(P)").mean(), drawn(12, 7, "TCE(Q)").mean()
        text += f". But the calibrated one has {grown[0]:.0f} with 60,000 rows, TCE(Q) {grown[1]:.0f}"
    confirmed = min(inside) > REASONABLE > max(outside)
    return text, "**confirmed**" if confirmed else "**in part**" if min(inside) > max(outside) else "**refuted**"


def _from_to(values: list[float]) -> str:
    return f"{min(values):.1f}" if len(values) == 1 else f"{min(values):.1f} to {max(values):.1f}"


def _best_sizes() -> tuple[str, str]:
    of = [apart(8, i) for i in range(5)]
    text = "Points apart: " + ", ".join(
        f"{value:.0f} ({TABLES[8].lines[i][0].split(', ')[1]})" for i, value in enumerate(of)
    )
    return text, "**confirmed**" if int(np.argmax(of)) == 3 else "**refuted**"


def _noise() -> tuple[str, str]:
    def times(metric: str, one: int, other: int) -> float:
        return float(drawn(9, other, metric).mean() / drawn(9, one, metric).mean())

    factors = {metric: (times(metric, 0, 3), times(metric, 3, 4)) for metric in ("TCE(P)", "ECE", "ACE")}
    text = "From 0 to 0.1 and from there to 0.5: " + ", ".join(
        f"{metric} times {before:.1f} and {after:.1f}" for metric, (before, after) in factors.items()
    )
    wrong = {metric: (drawn(9, 9, metric).mean(), drawn(9, 10, metric).mean()) for metric in ("TCE(P)", "ECE")}
    text += (
        f". Of the miscalibrated model noise of 0.5 makes the ECE larger ({wrong['ECE'][0]:.3f} to {wrong['ECE'][1]:.3f}) "
        f"and the TCE {'smaller' if wrong['TCE(P)'][1] < wrong['TCE(P)'][0] else 'larger'} "
        f"({wrong['TCE(P)'][0]:.0f} to {wrong['TCE(P)'][1]:.0f})"
    )
    breaks = all(before < FAR < after for before, after in factors.values())
    alike = (wrong["TCE(P)"][1] > wrong["TCE(P)"][0]) == (wrong["ECE"][1] > wrong["ECE"][0])
    return text, "**confirmed**" if breaks and alike else "**in part**" if breaks else "**refuted**"


def _t_test() -> tuple[str, str]:
    lines = range(5)
    pairs = {
        name: [(apart(11, i, f"{name}-B"), apart(11, i, f"{name}-T")) for i in lines]
        for name in ("TCE(P)", "TCE(Q)", "TCE(V)")
    }
    differences = [b - t for of in pairs.values() for b, t in of]
    ahead = sum(d > 0 for d in differences)
    rare = {test: at_prevalence(0.01)["TCE(P)", test].mean() for test in ("t", "binomial")}
    text = (
        f"Divided by the standard error, the t-test keeps the models within {max(map(abs, differences)):.1f} points as far "
        f"apart as the binomial test does, which is ahead in {ahead} of {len(differences)} cells. The printed columns divide "
        f"by the variance. Of true probabilities at 1 % the t-test rejects {rare['t']:.1f} %, the binomial test "
        f"{rare['binomial']:.1f} %"
    )
    if min(differences) > 1.0:
        return text, "**confirmed**"
    return text, "**not with the standard error**" + (
        "; true of rare events" if rare["t"] > FAR * rare["binomial"] else ""
    )


def _all_better() -> tuple[str, str]:
    printed = np.array([[float(cell) for cell in line[:3]] for line in PRINTED[13]])
    means = np.array([[drawn(13, i, m).mean() for m in ("TCE(P)", "TCE(Q)", "TCE(V)")] for i in range(len(printed))])
    counts = [int(_is_better(of).sum()) for of in (printed, means)]
    text = f"In {counts[0]} of {len(printed)} printed lines; in {counts[1]} by means over draws"
    return text, "**confirmed**" if counts[0] == len(printed) else "**refuted** by the table itself"


def _is_better(of: np.ndarray) -> np.ndarray:
    """Where the first column is best: least of the calibrated models, which come first, most of the others."""
    n_calibrated = len(of) // 2
    sign = np.where(np.arange(len(of)) < n_calibrated, 1.0, -1.0)[:, None]
    return np.asarray((sign * of[:, :1] < sign * of[:, 1:]).all(axis=1))


def _networks() -> tuple[str, str]:
    cells = np.array([[float(cell) for cell in line] for line in PRINTED[5]])
    taus = {m: kendalltau(cells[:, 0], cells[:, j]).statistic for j, m in enumerate(("ECE", "ACE", "MCE", "MCE(Q)"), 1)}
    text = "Kendall's tau of the printed columns: " + ", ".join(f"{m} {tau:+.1f}" for m, tau in taus.items())
    text += f". Of the {len(NETWORKS)} networks that were run here {agreeing()[0]} of {agreeing()[1]} cells come out"
    return text, "**confirmed**" if min(taus.values()) > 0.5 else "**in part**" if max(
        taus.values()
    ) > 0.5 else "**refuted**"


def _time() -> tuple[str, str]:
    seconds = seconds_of_tce()
    ratio = SECONDS["TCE"] / seconds
    about = f"{float(f'{ratio:.1g}'):,.0f}"
    text = f"{seconds:.2g} s of one core here, about {about} times less, for the same values; the machines are not the same"
    return text, "**need not**" if ratio > FAR else "**confirmed**"
