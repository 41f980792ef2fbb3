"""Log loss of new rows of 200 to 1000 classes, by the methods that may be the default: python -m studies.evidence_scaling.many

Forecasts of the next word in the docstrings of Python's standard library, of Gaussian-like clouds, and of numbers of three
digits, whose images stand side by side. It takes half an hour of one core.
"""

from __future__ import annotations

import ast
import re
import sys
import sysconfig
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_digits
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.feature_extraction import FeatureHasher
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.neural_network import MLPClassifier

from calibrant import log_loss
from calibrant.calibrators import EvidenceScaling, StructuredMatrixScaling, TemperatureScaling
from studies.claims import table

TRAINED, HELD_OUT, ROWS = 20_000, 20_000, (300, 1000, 3000, 10_000)
METHODS = (TemperatureScaling, StructuredMatrixScaling, EvidenceScaling)
Trained = tuple[str, int, Any, Any, Any, Any, Any]


def next_words(k: int) -> Iterator[Trained]:
    """The next of the k most frequent words, from the two words before it."""
    texts = []
    for path in sorted(Path(sysconfig.get_paths()["stdlib"]).glob("*.py")):
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Module):
                texts.append(["", "", *re.findall("[a-z']+", (ast.get_docstring(node) or "").lower())])
    common = [word for word, _ in Counter(word for text in texts for word in text[2:]).most_common(k)]
    found = [
        (*text[i - 2 : i], common.index(text[i])) for text in texts for i in range(2, len(text)) if text[i] in common
    ]
    rows = np.random.default_rng(0).permutation(len(found))[: TRAINED + HELD_OUT]
    words = [(f"1 {b}", f"2 {a}", f"{a} {b}") for a, b, _ in (found[i] for i in rows)]
    x = FeatureHasher(2**14, input_type="string", alternate_sign=False).transform(words)
    y = np.array([found[i][2] for i in rows])
    for name, model in (("naive Bayes", MultinomialNB(alpha=0.1)), ("network", MLPClassifier((64,), max_iter=8))):
        yield f"next word, {name}", k, model, x[:TRAINED], y[:TRAINED], x[TRAINED:], y[TRAINED:]


def clouds(k: int) -> Iterator[Trained]:
    """Heavy-tailed clouds in 20 dimensions, of unequal size and frequency."""
    rng = np.random.default_rng(k)
    centre, size, share = rng.normal(size=(k, 20)), rng.gamma(2.0, 0.5, (k, 20)), rng.dirichlet(np.full(k, 2.0))
    y = rng.choice(k, TRAINED + HELD_OUT, p=share)
    x = centre[y] + size[y] * rng.standard_t(4.0, (len(y), 20))
    for name, model in (
        ("naive Bayes", GaussianNB(var_smoothing=1e-2)),
        ("network", MLPClassifier((100,), max_iter=30)),
    ):
        yield f"clouds, {name}", k, model, x[:TRAINED], y[:TRAINED], x[TRAINED:], y[TRAINED:]


def numbers() -> Iterator[Trained]:
    """Numbers of three digits from noisy images; no image serves to train and to test."""
    rng, (image, digit) = np.random.default_rng(0), load_digits(return_X_y=True)
    of = np.concatenate([rng.choice(half, (TRAINED, 3)) for half in np.split(rng.permutation(1796), 2)])
    x = image[of].reshape(len(of), -1) / 16.0 + rng.normal(0.0, 0.3, (len(of), 192))
    y = digit[of] @ [100, 10, 1]
    for name, model in (("LDA", LinearDiscriminantAnalysis()), ("network", MLPClassifier((128,), max_iter=25))):
        yield f"numbers, {name}", 1000, model, x[:TRAINED], y[:TRAINED], x[TRAINED:], y[TRAINED:]


def lines(name: str, k: int, model: Any, x: Any, y: Any, new: Any, truth: Any) -> Iterator[list[str]]:
    """For each number of calibration rows the log loss without a method, and with each, and the seconds of the fits."""
    model.set_params(**({"random_state": 0} if "random_state" in model.get_params() else {})).fit(x, y)
    prob = np.zeros((len(truth), k))
    prob[:, model.classes_] = model.predict_proba(new)
    for n in ROWS:
        rows = np.random.default_rng(n).permutation(len(truth))
        fitted, held_out, line, seconds = rows[:n], rows[10_000:], [name, f"{k}", f"{n}"], []
        line.append(f"{log_loss(truth[held_out], prob[held_out], labels=range(k), clip=1e-12):.3f}")
        for method in METHODS:
            begun = time.process_time()
            calibrator = method(labels=range(k)).fit(prob[fitted], truth[fitted])
            seconds.append(f"{time.process_time() - begun:.1f}")
            line.append(f"{log_loss(truth[held_out], calibrator.predict_proba(prob[held_out]), labels=range(k)):.3f}")
        yield [*line, ", ".join(seconds[1:])]


def main() -> None:
    """Print the table, line by line."""
    warnings.simplefilter("ignore")
    head = ["forecast", "classes", "rows", "none", "temperature", "sms", "evidence-scaling", "seconds of the last two"]
    found = []
    for trained in (*next_words(200), *clouds(200), *next_words(500), *clouds(500), *numbers()):
        for line in lines(*trained):
            found.append(line)
            sys.stderr.write(f"{' '.join(line)}\n")
    sys.stdout.write(table(head, found) + "\n")


if __name__ == "__main__":
    main()
