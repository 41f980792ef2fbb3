"""Does the search of the built documentation lead to the right page? Run: python -m tools.pages.search docs/_build/html

The search of Sphinx gives 100 points to a page whose main index entry is the query, and at most 26 for anything else. So the
first page is one that holds that entry; of several, such as a page and the glossary, it is the first by title.
"""

import json
import sys
from pathlib import Path

FIRST = {
    "ECE": "reference/calibrant.metrics.expected_calibration_error",
    "reliability diagram": "gallery",
    "log_loss": "reference/calibrant.metrics.log_loss",
    "isotonic": "reference/calibrant.calibrators.IsotonicCalibration",
    "temperature": "reference/calibrant.calibrators.TemperatureScaling",
    "TCE": "reference/calibrant.metrics.bin_test_calibration_error",
    "decision curve": "reference/calibrant.decisions.decision_curve",
    "MCE": "reference/calibrant.metrics.maximum_calibration_error",
    "ACE": "reference/calibrant.metrics.adaptive_calibration_error",
    "ICI": "reference/calibrant.metrics.integrated_calibration_index",
    "NLL": "reference/calibrant.metrics.log_loss",
    "VUS": "reference/calibrant.metrics.volume_under_surface_score",
    "Brier score": "reference/calibrant.metrics.brier_score_loss",
}
"""What people type, and the page that they look for."""

ANSWERED = (
    "isotonic vs platt",
    "platt vs isotonic",
    "how many rows",
    "sample size",
    "training set",
    "overfitting",
    "cross_val_predict",
    "out-of-fold predictions",
    "prefit",
    "XGBoost multiclass",
    "XGBoost",
    "LightGBM",
    "multilabel",
    "GPU",
    "CUDA",
    "imbalanced",
    "class imbalance",
    "oversampling",
    "weights",
    "sample_weight",
    "ece.lower",
    "noise floor",
    "number of bins",
    "choose a calibrator",
    "abstain",
    "selective classification",
    "risk-coverage",
    "compare two models",
    "model comparison",
    "which metric",
    "accuracy after calibration",
    "percent",
    "large files",
    "out of memory",
    "drift",
    "LLM",
    "language model",
    "SQL",
    "ONNX",
    "JavaScript",
    "pickle",
    "threshold",
    "fairness",
    "groups",
    "conformal",
    "regression calibration",
    "quantiles",
)
"""What the questions and answers are found by."""

PEERS = {
    "gradient-boosting": ("gradient boosting", "XGBClassifier", "LGBMClassifier"),
    "data-frames": ("pandas", "polars", "data frame", "DataFrame"),
    "skore": ("skore",),
    "evaluate": ("Hugging Face", "evaluate"),
    "pytest": ("pytest", "unit test"),
}
"""How-to pages that lead from another package to this one, and the words for it."""

FIRST |= dict.fromkeys(ANSWERED, "faq")
FIRST |= {word: f"how-to/{page}" for page, words in PEERS.items() for word in words}


def main_entries(built: Path) -> dict[str, list[str]]:
    """Return the pages of each main index entry of a built documentation, in the order in which the search shows them."""
    text = (built / "searchindex.js").read_text(encoding="utf-8")
    index = json.loads(text[text.index("(") + 1 : text.rindex(")")])
    by_title = sorted(range(len(index["docnames"])), key=lambda page: index["titles"][page].lower())
    held = {word: {page for page, _, main in places if main} for word, places in index["indexentries"].items()}
    return {word: [index["docnames"][page] for page in by_title if page in pages] for word, pages in held.items()}


def wrong(built: Path) -> list[str]:
    """Return a sentence for each query that leads elsewhere."""
    found = main_entries(built)
    return [
        f"the search for {query!r} must lead to {page}; its main index entries are on {found.get(query.lower(), [])}"
        for query, page in FIRST.items()
        if found.get(query.lower(), [])[:1] != [page]
    ]


if __name__ == "__main__":
    said = wrong(Path(sys.argv[1]))
    print("\n".join(said) or f"{len(FIRST)} queries lead to the right page")
    sys.exit(bool(said))
