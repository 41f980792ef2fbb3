"""Make the networks of the survey's test cases: scikit-learn's, two layers of 128 units, on 10 000 instances.

Ten of two classes, and ten of three classes for each way to read the 8 of class 3 (see SurveyMixture). All other settings are
scikit-learn's own. All thirty are stored beside the study, so that every machine has the same predictions without minutes of
training: a network of one feature is linear between the points where a unit switches, so its log-odds there are all of it.
Run: python -m tools.make_survey_networks
"""

from pathlib import Path

import numpy as np
from sklearn.neural_network import MLPClassifier

from calibrant.datasets import SurveyMixture

STORED = Path(__file__).parents[1] / "studies" / "survey" / "networks.npz"
READINGS = {
    "two classes": (2, "variance"),
    "variance": (3, "variance"),
    "standard deviation": (3, "standard deviation"),
}
END, SEEDS = 260.0, 10
"""Features beyond the end do not occur: it is seven standard deviations from every mean."""


def crossings(x: np.ndarray, unit: np.ndarray) -> np.ndarray:
    """Return where units, linear between the points x, pass through zero: they switch there."""
    left, right = unit[:-1], unit[1:]
    at, which = np.nonzero(left * right < 0)
    share = left[at, which] / (left[at, which] - right[at, which])
    return x[at] + share * (x[at + 1] - x[at])


def layers(network: MLPClassifier, x: np.ndarray) -> list[np.ndarray]:
    """Return what enters the units of each layer at points x; the last is the network's log-odds or logits."""
    signal, found = x[:, None], []
    for weight, bias in zip(network.coefs_, network.intercepts_, strict=True):
        found.append(signal @ weight + bias)
        signal = np.maximum(found[-1], 0.0)
    return found


def as_lines(network: MLPClassifier) -> tuple[np.ndarray, np.ndarray]:
    """Return the points where a network of one feature bends, and its log-odds against the last class there."""
    x = np.array([-END, END])
    for layer in (0, 1):
        x = np.unique(np.concatenate([x, crossings(x, layers(network, x)[layer])]))
    last = layers(network, x)[2]
    return x, last if last.shape[1] == 1 else last[:, :-1] - last[:, -1:]


def main() -> None:
    """Train, show how far each network came, and store them."""
    lines = {}
    for reading, (n_classes, class_3) in READINGS.items():
        for seed in range(SEEDS):
            x, y = SurveyMixture(n_classes, class_3).sample(10_000, rng=seed)
            network = MLPClassifier((128, 128), random_state=seed).fit(x[:, None], y)
            points, log_odds = as_lines(network)
            lines[f"{reading}, {seed}"] = np.column_stack([points, log_odds]).astype(np.float32)
            print(f"{reading}, {seed}: {network.n_iter_} epochs, log loss {network.loss_:.4f}, {len(points)} points")
    np.savez_compressed(STORED, **lines)
    print(f"{STORED.name}: {STORED.stat().st_size / 1e3:.0f} kB")


if __name__ == "__main__":
    main()
