"""The main results of the study that trains models, in a few sentences."""

from __future__ import annotations

from studies.tce.uci.bins import n_too_large, n_violated, table_off
from studies.tce.uci.clear import CLEAR_METRICS, LEVEL, NOMINAL, n_clear, n_models
from studies.tce.uci.data import DATA_SETS, data_set
from studies.tce.uci.measured import floors, pvalues, values
from studies.tce.uci.ranks import is_better, n_rankings, paper_same_best, same_best


def summary() -> str:
    """A list of sentences."""
    floor, found = floors("TCE").mean(axis=-1), values("TCE")
    seen = pvalues("TCE") > LEVEL
    differ = n_rankings() - same_best("TCE", "ECE")
    agree, tables = paper_same_best("TCE", "ECE") or (0, 0)
    text, verdict = is_better("TCE", "ECE")
    nearer = "not clear" if "not clear" in verdict else f"{verdict.strip('*')}, else not clear"
    rare = list(DATA_SETS).index("covertype")
    prevalence = data_set("covertype")[1].mean()
    told = {metric: (pvalues(metric)[rare] <= LEVEL) for metric in CLEAR_METRICS}
    off = table_off()
    lines = [
        "* **A TCE needs the TCE of a calibrated forecast beside it.** With the probabilities of these models that is "
        f"{floor.min():.1f} to {floor.max():.1f} and not {NOMINAL:g}; {int(seen.sum())} of {n_models()} models cannot be told "
        f"from calibrated ones by it, and the highest TCE of them is {found[seen].max():.1f}.",
        f"* **TCE and ECE name different best models** in {differ} of {n_rankings()} rankings here and on "
        f"{tables - agree} of {tables} data sets in the paper's tables.",
        f"* **Whether TCE ranks models more as proper scores do than ECE does: {nearer}.** Kendall's tau of TCE less that of "
        f"ECE: {text}.",
        f"* **Held against calibrated forecasts** with the same probabilities, ECE finds {n_clear('ECE')} of {n_models()} "
        f"models badly calibrated, ACE {n_clear('ACE')}, TCE {n_clear('TCE')} and TCE(Q) {n_clear('TCE(Q)')}. With "
        f"{prevalence:.0%} of events, on covertype, it is {told['ECE'].sum()}, {told['ACE'].sum()}, {told['TCE'].sum()} and "
        f"{told['TCE(Q)'].sum()} of {told['ECE'].size}.",
        f"* **Table 1 comes out** to {off[0]:.3f} in total error and {off[1]:.3f} within bins. PAVA-BC violates monotonicity "
        f"on {n_violated('PAVA-BC')} of {n_models()} models, quantiles on {n_violated('10 quantiles')}. On {n_too_large()} "
        "models a bin of PAVA-BC is larger than a fifth of the rows, since equal scores share a bin.",
    ]
    return "\n".join(lines)
