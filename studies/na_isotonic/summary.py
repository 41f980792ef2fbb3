"""What came out of the study of normalisation-aware isotonic calibration, in a few sentences."""

from __future__ import annotations

import numpy as np

from studies.na_isotonic.findings import PRESERVING, against_linear, ahead_of_linear, changes
from studies.na_isotonic.measured import METHODS, RANKED
from studies.na_isotonic.ranks import (
    architectures,
    clearly_behind,
    critical_difference,
    data_sets,
    mean_rank,
    names,
    of_architecture,
    values,
    versus,
)


def summary() -> str:
    """What came out, in a few sentences."""
    return "\n".join([_say_nll(), _say_confidence(), _say_linear(), _say_flattened(), _say_accuracy(), _say_certain()])


def _standing(metric: str, method: str) -> str:
    """Where a method stands by mean rank, and how clearly."""
    of = mean_rank(metric)
    order = list(of)
    place = order.index(method) + 1
    behind = clearly_behind(metric, method)
    first = ", ".join(f"{name} {of[name]:.1f}" for name in order[:3])
    clear = f"it is clearly ahead of {', '.join(behind) or 'none'}"
    return f"number {place} of {len(of)} by mean rank (the first three: {first}); {clear}"


def _say_nll() -> str:
    found = versus("NLL", "NA-FIR", "FIR")
    comes = {"**confirmed**": "comes out", "**refuted**": "is refuted", "**not clear**": "is not clear here"}
    leads = "leads in NLL, too" if next(iter(mean_rank("NLL"))) == "NA-FIR" else "does not lead in NLL"
    return (
        f"* **That NA-FIR has a lower NLL than FIR {comes[found.verdict]}**: {found}. Of all methods it {leads}: "
        f"{_standing('NLL', 'NA-FIR')}."
    )


def _say_confidence() -> str:
    first = next(iter(mean_rank("conf-ECE"))) == "SCIR"
    alone = len(clearly_behind("conf-ECE", "SCIR")) == len(METHODS) - 1
    comes = "comes out" if first and alone else "comes out in name only" if first else "does not come out"
    found = versus("conf-ECE", "SCIR", [name for name in METHODS if name != "SCIR"])
    return (
        f"* **SCIR's lead in conf-ECE {comes}**: {_standing('conf-ECE', 'SCIR')}. It is best of all on {found.better} of "
        f"{len(names())} models. Where it leads and where not is looked into below."
    )


def _say_linear() -> str:
    ahead = ahead_of_linear()
    pairs = "; ".join(f"against {other} {found}" for other, found in against_linear().items())
    return (
        f"* **Isotonic against linear scaling, NLL**: NA-FIR is ahead of TS, VS and MS on {len(ahead)} of {len(data_sets())} "
        f"data sets; {pairs}."
    )


def _say_flattened() -> str:
    return (
        f"* **One map for all classes**: FIR against IR-OvR {versus('NLL', 'FIR', 'IR-OvR')} by NLL, "
        f"{versus('conf-ECE', 'FIR', 'IR-OvR')} by conf-ECE, {versus('cw-ECE', 'FIR', 'IR-OvR')} by cw-ECE."
    )


def _say_accuracy() -> str:
    size = {name: float(np.abs(changes(name)).mean()) for name in METHODS[:-1]}
    order = sorted(size, key=lambda name: size[name])
    return (
        f"* **Accuracy**: {kept_order()} On average the accuracy of a model moves, up or down, by "
        f"{', '.join(f'{name} {size[name]:.2%}' for name in order)}."
    )


def kept_order() -> str:
    """Which of the methods that keep the order of a row keep the prediction, too."""
    exactly = [name for name in PRESERVING if not changes(name).any()]
    tied = [name for name in PRESERVING if name not in exactly]
    text = (
        f"{' and '.join(exactly) or 'No method'} leave{'s' * (len(exactly) < 2)} the accuracy of every model as it was."
    )
    if tied:
        text += (
            f" {' and '.join(tied)} keep{'s' * (len(tied) == 1)} the order of a row, but where a step ties the first two "
            "classes the first column counts as predicted."
        )
    return text


def _say_certain() -> str:
    apart = ", ".join(f"{metric} {len(clearly_behind(metric, next(iter(mean_rank(metric)))))}" for metric in RANKED)
    return (
        f"* **What {len(names())} models can tell** are mean ranks {critical_difference():.1f} apart. Of {len(METHODS) - 1} "
        f"methods so many are clearly behind the first: {apart}. Most of the order above could be chance."
    )


def where_fir_leads() -> str:
    """The classifiers of the models on which FIR has the lower NLL."""
    of = values("NLL")
    behind = of[:, METHODS.index("NA-FIR")] > of[:, METHODS.index("FIR")]
    count = {name: int((behind & of_architecture(name)).sum()) for name in architectures()}
    listed = ", ".join(f"{name} on {n} of {int(of_architecture(name).sum())}" for name, n in count.items() if n)
    return f"NA-FIR has a higher NLL than FIR on {int(behind.sum())} models: {listed or 'none'}."
