"""What the pages say about this paper, as rows."""

from __future__ import annotations

import numpy as np
from scipy.special import entr
from scipy.stats import kendalltau

from calibrant import EqualWidth, bin_test_calibration_error, calibration_error
from calibrant.binning import Bins, BoundedIsotonic, Isotonic
from calibrant.curves import binning_quality
from calibrant.notions import BinaryProblem
from studies.claims import Functions, Numbers, Paper, Verdict, claims_of, each_holds, holds, not_judged, printed_as
from studies.tce import imagenet, uci
from studies.tce.claims_simulation import HALF, MOST
from studies.tce.claims_simulation import JUDGED as SIMULATION
from studies.tce.published import bounded, cells, introsort, multiples, of_averages, of_orders, rows, tested

# What the paper says of ImageNet (4.3) and of its bins (3.3, Algorithm 3).


ROUNDING_OF_RATES = 1e-9
OTHERS = ("ECE", "ACE", "MCE", "MCE(Q)")
ALIKE = 0.5
"""Kendall's tau above which two metrics rank alike here: three quarters of the pairs in the same order."""


JUDGED: dict[str, Functions] = {}
"""What measures, judges and words each claim."""

LARGEST_SHARE = 5
"""N_max is a fifth of the rows."""


def measure_printed_cut() -> Numbers:
    """Bins, largest bin and TCE of the blocks and of the printed cut."""
    drawn = [imagenet.compared(*of) for of in imagenet.rare_events()]
    changes = [abs(one[2] - other[2]) for one, other in drawn]
    worst = drawn[int(np.argmax(changes))]
    return {
        "networks": imagenet.of_networks(),
        "largest": imagenet.dogs()["y"].size // LARGEST_SHARE,
        "drawn": len(drawn),
        "above": sum(other[1] > imagenet.N_ROWS // LARGEST_SHARE for _, other in drawn),
        "changed": sum(change > ROUNDING_OF_RATES for change in changes),
        "worst": [worst[0][2], worst[1][2]],
    }


def say_printed_cut(
    networks: list[list[list[float]]], largest: int, drawn: int, above: int, changed: int, worst: list[float]
) -> str:
    parts = [
        f"{name}: {b[0]} bins of the blocks, {c[0]} of the printed cut, the largest with {b[1]} and {c[1]} rows, TCE "
        f"{b[2]:.3f} and {c[2]:.3f}"
        for name, (b, c) in zip(imagenet.NETWORKS.values(), networks, strict=True)
    ]
    return (
        f"N_max is {largest}. {'; '.join(parts)}. Of {drawn} drawn problems of rare events the printed cut has a bin above "
        f"N_max in {above} and changes TCE in {changed}, at most {worst[1]:.1f} for {worst[0]:.1f}. It cuts where the event "
        "rate changes, so that it joins neighbouring blocks of equal rate. The library cuts between blocks, as the published "
        "code does"
    )


JUDGED["algorithm-3-as-printed"] = (
    measure_printed_cut,
    lambda networks, largest, above, **_: holds(above == 0 and all(of[1] <= largest for _, of in networks)),
    say_printed_cut,
)


SIZES = ((10, 40), (30, 40))
"""Smallest and largest size for the small problems: those of the paper, and a largest one below 2 N_min - 1."""

JUDGED["algorithm-3-smallest"] = (
    lambda: dict(
        zip(("below", "library"), zip(*(imagenet.below_least(*of) for of in SIZES), strict=True), strict=True)
    ),
    lambda below, library: each_holds(n == 0 for n in below),
    lambda below, library: (
        f"Of {imagenet.N_PROBLEMS} drawn problems of {imagenet.N_ROWS} rows a bin has fewer than N_min rows, as printed: "
        + ", ".join(
            f"in {n} with N_min {least} and N_max {most}" for n, (least, most) in zip(below, SIZES, strict=True)
        )
        + f"; in the library, which joins such a bin to its neighbour: in {library[0]} and {library[1]}"
    ),
)


def measure_definition() -> Numbers:
    """Criterion of bins and the sum of Definition 3, by D, of each network; and the sum over bins of one row each."""
    y, names = imagenet.dogs()["y"], [*imagenet.NETWORKS]
    errors = {"variance": variance, "entropy": entropy}
    return {
        "criterion": [binning_quality(y, imagenet.dogs()[name], binning=Isotonic()).criterion for name in names],
        "sums": {
            word: {
                cut: [calibration_error(y, imagenet.dogs()[name], binning=binning, loss=error) for name in names]
                for cut, binning in CUTS.items()
            }
            for word, error in errors.items()
        },
    }


def variance(problem: BinaryProblem, bins: Bins) -> np.ndarray:
    """D of eq. 9."""
    return bins.event_rate * (1.0 - bins.event_rate)


def entropy(problem: BinaryProblem, bins: Bins) -> np.ndarray:
    """Log loss of the event rate of each bin."""
    return entr(bins.event_rate) + entr(1.0 - bins.event_rate)


CUTS = {"PAVA": Isotonic(), "PAVA-BC": BoundedIsotonic(), "one bin": EqualWidth(1)}
"""Bins whose event rates do not fall, or hardly."""

JUDGED["definition-3"] = (
    measure_definition,
    lambda criterion, sums: holds(
        max(abs(a - b) for a, b in zip(criterion, sums["variance"]["PAVA"], strict=True)) <= 1e-12
        and all(min(of, key=lambda cut: of[cut][i]) == "PAVA" for of in sums.values() for i in range(len(criterion)))
    ),
    lambda criterion, sums: "; ".join(
        f"{word} of AlexNet: " + ", ".join(f"{cut} {values[0]:.5f}" for cut, values in of.items())
        for word, of in sums.items()
    ),
)

MISPRINT = ("resnet152", "MCE(Q)")
LINE = [(MISPRINT[0], metric) for metric in imagenet.PAPERS if metric != MISPRINT[1]]
"""A cell, and the others of its line."""

JUDGED["table-5"] = (
    lambda: {"cells": [cell for cell in imagenet.compared_cells() if tuple(cell[:2]) != MISPRINT]},
    lambda cells: holds(bool(cells) and all(printed == own for *_, printed, own in cells)),
    lambda cells: f"{sum(printed == own for *_, printed, own in cells)} of {len(cells)} cells",
)

JUDGED["table-5-misprint"] = (
    lambda: {
        "printed": imagenet.printed(*MISPRINT),
        "value": imagenet.error(*MISPRINT)[0],
        "line": [own == cell for name, metric, cell, own in imagenet.compared_cells() if (name, metric) in LINE],
    },
    lambda printed, value, line: printed_as(f"{value:.4f}" == printed, all(line)),
    lambda printed, value, line: f"{value:.6f} where {sum(line)} of the {len(line)} other cells of the line come out",
)


def of_cells(data: str, off: Verdict = Verdict.FAILS) -> Functions:
    """Cells of models that were trained again as the published code trains them; ``off`` is the verdict on others."""
    return (
        lambda: {"cells": cells(data)},
        lambda cells: Verdict.HOLDS if all(a == b for *_, a, b in cells) else off,
        say_cells,
    )


def say_cells(cells: list[list[str]]) -> str:
    off = [f"{metric} of {name} {own} (printed {printed})" for name, metric, printed, own in cells if printed != own]
    return f"{len(cells) - len(off)} of {len(cells)} cells" + (f"; not {', '.join(off)}" if off else "")


JUDGED["table-3"] = of_cells("abalone")
JUDGED["table-14-optdigits"] = of_cells("optdigits")
JUDGED["table-14-spambase"] = of_cells("spambase", Verdict.OPEN)


def say_satimage(cells: list[list[str]], rows: dict[str, int]) -> str:
    off = [abs(float(own) / float(printed) - 1.0) for *_, printed, own in cells]
    n = " and ".join(f"{count} are whole numbers of {of} rows in percent" for of, count in rows.items())
    return (
        f"{sum(of == 0.0 for of in off)} of {len(cells)} cells to the digits, {sum(of <= 0.2 for of in off)} within a fifth of "
        f"the printed figure, in the median {np.median(off):.0%} away. Of the 10 printed TCEs {n}: the paper tests on 30 % of "
        "6435 rows, and the file at hand has 6430, so that its split is another"
    )


JUDGED["table-14-satimage"] = (
    lambda: {"cells": cells("satimage"), "rows": {str(n): multiples("satimage", n) for n in (1931, 1929)}},
    lambda cells, rows: Verdict.HOLDS if all(a == b for *_, a, b in cells) else Verdict.OPEN,
    say_satimage,
)

JUDGED["order-of-ties"] = (
    lambda: {"orders": of_orders("RF"), "together": bin_test_calibration_error(*rows("abalone", "RF"), labels=[0, 1])},
    lambda orders, together: holds(max(orders) == min(orders)),
    lambda orders, together: (
        f"{min(orders):.1f} to {max(orders):.1f} over {len(orders)} random orders, as the published code cuts between rows "
        f"with the same prediction; {together:.1f} where they share a bin. 33.89 is the figure of the order that sorting in "
        "the NumPy of that time gave"
    ),
)

PICTURED = {
    "Fig. 1, GB": (11, [5, 7, 11]),
    "Fig. 5 (a), LR": (13, [8, 12]),
    "Fig. 7, alexnet": (9, [3, 4, 5, 6, 7, 8, 9]),
    "Fig. 7, vgg19": (9, [4, 6, 7, 8, 9]),
    "Fig. 7, resnet18": (9, [5, 6, 7, 8, 9]),
    "Fig. 7, resnet152": (7, [5, 6, 7]),
}
"""Bins of the authors' pictures, and those with a red bar: rejected predictions. Read off."""

VISIBLE = 0.02
"""Part of the rows of a bin whose bar is seen."""


def measure_pictured() -> Numbers:
    found = {}
    for picture in PICTURED:
        name = picture.rpartition(" ")[2]
        of = rows("abalone", name) if name.isupper() else (imagenet.dogs()["y"], imagenet.dogs()[name])
        count, rejected = tested(of, introsort(of[1].tolist()), bounded(of[0].size))
        found[picture] = [[int(n) for n in count], [int(n) for n in rejected]]
    return {"found": found}


def red(count: list[int], rejected: list[int]) -> list[int]:
    """The bins whose bar of rejected predictions is seen."""
    return [b for b, (n, r) in enumerate(zip(count, rejected, strict=True), 1) if r > VISIBLE * n]


JUDGED["pictures"] = (
    measure_pictured,
    lambda found: holds(all((len(of[0]), red(*of)) == PICTURED[picture] for picture, of in found.items())),
    lambda found: "; ".join(
        f"{picture}: {len(count)} bins of {min(count)} to {max(count)} rows, rejected in "
        + ", ".join(map(str, red(count, rejected)))
        for picture, (count, rejected) in found.items()
    ),
)


def measure_ranks() -> Numbers:
    cells = np.array([[float(cell) for cell in line] for line in imagenet.PRINTED[5]])
    return {"taus": {m: float(kendalltau(cells[:, 0], cells[:, j]).statistic) for j, m in enumerate(OTHERS, 1)}}


JUDGED["networks-ranked-alike"] = (
    measure_ranks,
    lambda taus: holds(2 * sum(tau > ALIKE for tau in taus.values()) > len(taus)),
    lambda taus: "Kendall's tau of TCE with " + ", ".join(f"{m} {tau:+.1f}" for m, tau in taus.items()),
)

JUDGED["time"] = (
    lambda: {"seconds": imagenet.seconds_of_tce()},
    not_judged,
    lambda seconds: (
        f"About {seconds:.2f} s of one core here, about {float(format(imagenet.SECONDS['TCE'] / seconds, '.2g')):,.0f} times "
        "less, for the same values"
    ),
)

# What the paper says of imbalanced data sets (4.2) and of the bins that PAVA-BC makes there (3.3, Table 1).


MILD = 2.0
"""Standard errors up to which a violation of monotonicity is mild here."""

SMALL, BAD = 0.025, 25.0
"""An error that looks small, and a TCE that is five times what true hypotheses have."""

JUDGED["single-bin"] = (
    lambda: {"shares": {name: share for name, share in uci.fullest().items() if name in uci.IMBALANCED}},
    lambda shares: holds(min(shares.values()) > 0.5),
    lambda shares: "Rows in the fullest bin: " + ", ".join(f"{name} {of:.0%}" for name, of in shares.items()),
)


def measure_averages() -> Numbers:
    """The gap of the averages as a part of the ECE: of the models here, and of the paper's own for abalone, trained again."""
    parts = {name: part for name, part in uci.of_averages().items() if name in uci.IMBALANCED}
    return {"parts": parts | {"abalone": of_averages("abalone")}}


JUDGED["comparison-of-averages"] = (
    measure_averages,
    lambda parts: holds(min(parts.values()) > 0.9),
    lambda parts: (
        "The gap of the averages as a part of the ECE, median over models: "
        + ", ".join(f"{name} {part:.0%}" for name, part in parts.items())
        + ". Of abalone these are the paper's models, trained again. Where all predictions lie in one bin it is so by "
        "definition"
    ),
)


def measure_sides() -> Numbers:
    of = uci.printed()["abalone"]
    names = {metric: min(of, key=lambda name: of[name][metric]) for metric in ("TCE", "ECE", "ACE")}
    tce, ece, ace = (uci.best_by_rank(metric) for metric in ("TCE", "ECE", "ACE"))
    differ = tce != ece
    here = [uci.n_rankings(), int(differ.sum()), int((differ & (ace == tce)).sum()), int((differ & (ace == ece)).sum())]
    return {"names": names, "here": here}


JUDGED["best-model"] = (
    measure_sides,
    lambda names, here: holds(names["TCE"] == names["ACE"] != names["ECE"]),
    lambda names, here: (
        "The printed table: "
        + ", ".join(f"{name} by {metric}" for metric, name in names.items())
        + f". Here TCE and ECE name different models in {here[1]} of {here[0]} rankings; ACE agrees with TCE in {here[2]} of "
        f"these and with ECE in {here[3]}: it is no rule"
    ),
)


def measure_small_but_bad() -> Numbers:
    of = uci.printed()["webpage"].values()
    small = {metric: max(one[metric] for one in of) for metric in ("ECE", "ACE")}
    bad = min(one["TCE"] for one in of)
    found = (uci.values("ECE") <= small["ECE"]) & (uci.values("ACE") <= small["ACE"]) & (uci.values("TCE") >= bad)
    return {
        "small": small,
        "bad": bad,
        "found": {name: int(here.sum()) for name, here in zip(uci.DATA_SETS, found, strict=True)},
        "both": int((found & (uci.pvalues("ECE") <= uci.LEVEL)).sum()),
        "models": uci.n_models(),
    }


JUDGED["small-but-bad"] = (
    measure_small_but_bad,
    lambda small, bad, found, **_: holds(max(small.values()) < SMALL and bad > BAD and sum(found.values()) > 0),
    lambda small, bad, found, both, models: (
        f"The printed ECE is at most {small['ECE']:.4f}, the ACE at most {small['ACE']:.4f}, and the TCE at least {bad:.1f}. "
        f"{sum(found.values())} of {models} models here has such values; for {both} of these the ECE too is clearly above that "
        "of calibrated predictions. The data set itself is not here"
    ),
)


def measure_total() -> Numbers:
    smallest = uci.totals()[:, 0] <= uci.totals().min(axis=1) + uci.ROUNDING
    least = smallest.reshape(len(uci.DATA_SETS), -1).sum(axis=1).tolist()
    return {"least": dict(zip(uci.DATA_SETS, least, strict=True)), "models": uci.n_models()}


JUDGED["pava-total-error"] = (
    measure_total,
    lambda least, models: holds(sum(least.values()) == models),
    lambda least, models: f"Smallest on {sum(least.values())} of {models} models of {len(least)} data sets",
)


def errors(word: str) -> list[list[float]]:
    """An error of each binning for the random forest on satimage, one line a split."""
    of = [uci.forecast("satimage", "RF", seed) for seed in uci.SEEDS]
    return [[float(getattr(uci.quality(one, name), word)) for name in uci.BINNINGS] for one in of]


JUDGED["quantiles-within-bins"] = (
    lambda: {
        "errors": errors("within_bin_error"),
        "elsewhere": uci.least(uci.withins(), "10 quantiles"),
        "models": uci.n_models(),
    },
    lambda errors, elsewhere, models: holds(all(quantiles < min(others) for *others, quantiles in errors)),
    lambda errors, elsewhere, models: (
        "PAVA, PAVA-BC, quantiles: "
        + "; ".join(", ".join(f"{value:.3f}" for value in line) for line in errors)
        + f". Over all data sets and algorithms it is so on {elsewhere} of {models} models: it is no rule"
    ),
)


JUDGED["balance"] = (
    lambda: {
        "total": errors("criterion"),
        "within": errors("within_bin_error"),
        "elsewhere": [uci.between(uci.totals()), uci.between(uci.withins())],
        "models": uci.n_models(),
    },
    lambda total, within, **_: each_holds(all(min(a, c) <= b <= max(a, c) for a, b, c in of) for of in (total, within)),
    lambda total, within, elsewhere, models: (
        f"Between them on {len(total)} splits. Over all data sets and algorithms in total error on {elsewhere[0]} of {models} "
        f"models, within bins on {elsewhere[1]}"
    ),
)


def measure_mild() -> Numbers:
    apart = np.concatenate([uci.drops(of, "PAVA-BC") for of in uci.forecasts()])
    return {
        "apart": [float(of) for of in apart],
        "largest": max(uci.quality(of, "PAVA-BC").largest_violation for of in uci.forecasts()),
        "violated": [uci.n_violated("PAVA-BC"), uci.n_violated("10 quantiles")],
        "models": uci.n_models(),
    }


JUDGED["mild-violations"] = (
    measure_mild,
    lambda apart, largest, violated, models: holds(bool(apart) and max(apart) <= MILD),
    lambda apart, largest, violated, models: (
        f"On {violated[0]} of {models} models, {len(apart)} violations, the largest {largest:.3f}, at most "
        f"{max(apart, default=0.0):.1f} standard errors; with quantiles on {violated[1]} models"
    ),
)

CLAIMS = claims_of(
    "tce", SIMULATION | JUDGED, ALIKE=ALIKE, BAD=BAD, HALF=HALF, MILD=MILD, MOST=MOST, SMALL=SMALL, VISIBLE=VISIBLE
)

PAPER = Paper(
    name="tce", title="TCE: a test-based approach to measuring calibration error", authors="Matsubara, Tax, Mudd and Guy",
    venue="UAI 2023", command="make reproduce-tce", minutes=8, page="tce.md", claims=CLAIMS,
)  # fmt: skip
