"""Does the search of the built documentation lead to the right page? Run: python -m tools.pages.search docs/_build/html

The search of Sphinx gives 100 points to a page whose main index entry is the query, and at most 26 for anything else. So the
first page is one that holds that entry; of several, such as a page and the glossary, it is the first by title.
Where Node is installed the search of the built pages itself is asked, in the order in which a browser shows its results.
"""

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from tools.pages import shelves

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

ANSWERED = """
isotonic vs platt; platt vs isotonic; how many rows; sample size; training set; overfitting; cross_val_predict;
out-of-fold predictions; prefit; XGBoost multiclass; XGBoost; LightGBM; multilabel; GPU; CUDA; imbalanced; class
imbalance; oversampling; weights; sample_weight; ece.lower; noise floor; number of bins; choose a calibrator; abstain;
selective classification; risk-coverage; compare two models; model comparison; which metric; accuracy after
calibration; percent; large files; out of memory; drift; LLM; language model; SQL; ONNX; JavaScript; pickle;
threshold; fairness; groups; conformal; is ece 0.03 bad; regression calibration; quantiles
"""
"""What the questions and answers are found by."""

PEERS = {
    "gradient-boosting": ("gradient boosting", "XGBClassifier", "LGBMClassifier"),
    "data-frames": ("pandas", "polars", "data frame", "DataFrame"),
    "skore": ("skore",),
    "evaluate": ("Hugging Face", "evaluate"),
    "pytest": ("pytest", "unit test"),
}
"""How-to pages that lead from another package to this one, and the words for it."""

ASKED = {
    "get-started": ("install", "quick start", "tutorial", "pip install"),
    "calibrators": ("which calibrator", "default calibrator", "best calibrator", "predicted class stays"),
    "testing": ("p-value", "significance", "hypothesis test", "which test"),
    "uncertainty": ("confidence interval", "error bars", "how sure"),
    "command-line": ("command line", "exit code", "CSV", "terminal", "csv columns"),
    "monitoring": ("monitoring", "alarm", "calibration over time"),
    "how-many-rows": ("few rows", "small sample", "rows to calibrate"),
    "deciding": ("cost-sensitive", "expected cost", "prior shift", "costs of errors"),
    "glossary": ("overconfident", "underconfident"),
    "scope": ("not supported", "what calibrant does not do"),
    "versions": ("deprecated", "beta"),
    "how-to/scikit-learn-pipeline": ("scikit-learn", "sklearn", "scikit-learn pipeline"),
    "how-to/clinical-validation": ("clinical validation", "external validation", "clinical model"),
    "how-to/continuous-integration": ("continuous integration", "CI", "fail the build"),
    "how-to/language-model-confidence": ("stated confidence", "hallucination", "confidence of a language model"),
    "how-to/logits-of-a-network": ("logits", "neural network"),
    "how-to/export": ("export", "without Python", "deploy"),
    "how-to/warehouse": ("dbt", "scores in a warehouse"),
    "how-to/compare": ("A/B test", "better model"),
    "how-to/spark": ("Spark",),
    "how-to/clusters": ("Dask", "DuckDB"),
    "how-to/torch": ("PyTorch",),
}
"""Other words that people type, by the page that must be among the first three results."""

SEARCH = """
const fs = require("fs"), vm = require("vm"), [built, ...queries] = process.argv.slice(1);
const page = { getElementById: () => null, addEventListener() {}, documentElement: { dataset: {} } };
const here = { document: page, localStorage: { setItem() {} }, SPHINX_HIGHLIGHT_ENABLED: false, _ready() {}, _: String };
here.window = here;
vm.createContext(here);
const scripts = ["base-stemmer", "english-stemmer", "searchtools", "language_data"].map((name) => `_static/${name}.js`);
const text = [...scripts, "searchindex.js"].map((name) => fs.readFileSync(`${built}/${name}`, "utf8")).join("\\n");
vm.runInContext(`${text}\\nglobalThis.Search = Search;`, here);
const found = (query) => here.Search._performSearch(...here.Search._parseQuery(query)).reverse().map(([page]) => page);
console.log(JSON.stringify(Object.fromEntries(queries.map((query) => [query, [...new Set(found(query))]]))));
"""
"""What Node runs: the search of a page of results, without the page."""

FIRST |= dict.fromkeys(" ".join(ANSWERED.split()).split("; "), "faq")
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


def shown(built: Path) -> dict[str, list[str]]:
    """Return the pages that the search shows for each query, the first one first; nothing where Node is not installed."""
    queries = [*FIRST, *(query for some in ASKED.values() for query in some)]
    node = shutil.which("node")
    command = [node or "", "-e", SEARCH, str(built.resolve()), *queries]
    return json.loads(subprocess.check_output(command, text=True)) if node else {}


def misled(results: dict[str, list[str]]) -> Iterator[str]:
    """Yield a sentence for each query whose page is not among the first three, or that shows the record before users' pages."""
    right = FIRST | {query: page for page, queries in ASKED.items() for query in queries}
    record = set(shelves.record())
    for query, pages in results.items():
        if right[query] not in pages[:3]:
            yield f"the search for {query!r} must show {right[query]} among the first three; it shows {pages[:5]}"
        kept_apart = [page in record or page.startswith("decisions/") for page in pages]
        if sorted(kept_apart) != kept_apart:
            yield f"the search for {query!r} shows a page of the record before one of users"


if __name__ == "__main__":
    results = shown(Path(sys.argv[1]))
    said = [*wrong(Path(sys.argv[1])), *misled(results)]
    print(
        "\n".join(said)
        or f"{len(FIRST)} queries lead to the right page; {len(results)} were asked of the search itself"
    )
    sys.exit(bool(said))
