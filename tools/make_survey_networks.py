"""Make the embedded networks of the survey's test cases: scikit-learn's, two layers of 128 units, on 10 000 instances.

The second number of every Gaussian is read as its variance (see SurveyMixture). All other settings are scikit-learn's own.
The weights are kept in single precision, so that every machine has the same predictions without a minute of training.
Run: python -m tools.make_survey_networks
"""

from pathlib import Path

import numpy as np
from sklearn.neural_network import MLPClassifier

from calibrant.datasets import SurveyMixture

TARGET = Path(__file__).parents[1] / "src" / "calibrant" / "_data" / "survey_networks.npz"

arrays = {}
for n_classes in (2, 3):
    x, y = SurveyMixture(n_classes).sample(10_000, rng=0)
    network = MLPClassifier((128, 128), random_state=0).fit(x[:, None], y)
    for layer, (weight, bias) in enumerate(zip(network.coefs_, network.intercepts_, strict=True)):
        arrays[f"weight_{n_classes}_{layer}"] = weight.astype(np.float32)
        arrays[f"bias_{n_classes}_{layer}"] = bias.astype(np.float32)
    print(f"{n_classes} classes: {network.n_iter_} epochs, log loss {network.loss_:.4f}")
np.savez_compressed(TARGET, **arrays)
print(f"{TARGET.stat().st_size / 1e3:.0f} kB")
