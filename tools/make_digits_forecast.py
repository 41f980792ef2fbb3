"""Make the embedded demonstration data: an over-confident forecast of handwritten digits.

A small neural network is trained on 300 of the 1797 digits that scikit-learn ships (UCI Optical Recognition of Handwritten
Digits, CC BY 4.0), too few and too long, and forecasts the other 1497. Run: python -m tools.make_digits_forecast
"""

from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier

TARGET = Path(__file__).parents[1] / "src" / "calibrant" / "_data" / "digits_forecast.csv"

X, y = load_digits(return_X_y=True)
X_train, X_rest, y_train, y_rest = train_test_split(X / 16.0, y, train_size=300, random_state=0, stratify=y)
noise = np.random.default_rng(0).normal(0.0, 0.35, X_rest.shape)  # the camera got worse after training
network = MLPClassifier(128, alpha=0.0, learning_rate_init=0.01, max_iter=400, tol=0.0, random_state=0)
prob = network.fit(X_train, y_train).predict_proba(X_rest + noise)

lines = [",".join(["digit", *(f"p_{k}" for k in range(10))])]
lines += [",".join([str(label), *(f"{p:.5g}" for p in row)]) for label, row in zip(y_rest, prob, strict=True)]
TARGET.write_text("\n".join(lines) + "\n")
print(f"{len(y_rest)} rows, accuracy {np.mean(prob.argmax(1) == y_rest):.4f}, {TARGET.stat().st_size / 1e3:.0f} kB")
