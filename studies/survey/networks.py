"""A few networks of three classes, trained as section 5.4 says, in both worlds that its text allows."""

from __future__ import annotations

import numpy as np
from sklearn.neural_network import MLPClassifier

from calibrant.datasets import SurveyMixture

SEEDS = (0, 1, 2)
"""Training sets. Sentences about networks will need more: these serve the highest probability of class 3 alone."""

TRAINED = 10_000
"""Rows to train on, as in the survey."""


def highest_of_class_3(class_3: str) -> dict[str, float | list[float]]:
    """Return the highest probability of class 3: of Bayes' rule, and of a network for each training set."""
    x, mixture = np.linspace(-260.0, 260.0, 52_001), SurveyMixture(3, class_3)
    networks = []
    for seed in SEEDS:
        feature, y = mixture.sample(TRAINED, rng=seed)
        network = MLPClassifier((128, 128), random_state=seed).fit(feature[:, None], y)
        networks.append(float(network.predict_proba(x[:, None])[:, 2].max()))
    return {"bayes": float(mixture.posterior(x)[:, 2].max()), "networks": networks}
