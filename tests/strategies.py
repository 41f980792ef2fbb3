"""What Hypothesis draws: scores and forecasts with ties, zeros, ones, single rows and single classes; and plain rows."""

import numpy as np
from hypothesis import strategies as st
from scipy.special import expit

GRID = [0.0, 0.05, 0.2, 1 / 3, 0.4, 0.5, 0.6, 2 / 3, 0.8, 1.0]

scores = st.one_of(st.sampled_from(GRID), st.floats(0.0, 1.0))
whole_weights = st.integers(1, 4)
two_to_four = st.integers(2, 4)


@st.composite
def columns(draw, min_rows=1, max_rows=25, weights=whole_weights):
    """Labels 0 and 1, probabilities and weights, each of shape (n,)."""
    n = draw(st.integers(min_rows, max_rows))
    score = draw(st.lists(scores, min_size=n, max_size=n))
    label = draw(st.lists(st.integers(0, 1), min_size=n, max_size=n))
    weight = draw(st.lists(weights, min_size=n, max_size=n))
    return np.array(label), np.array(score), np.array(weight, dtype=float)


@st.composite
def tables(draw, min_rows=1, max_rows=20, n_classes=two_to_four, weights=whole_weights):
    """Labels 0..K-1, rows that sum to one, and weights. Rows repeat, tie within themselves, and hold zeros and ones."""
    k = draw(n_classes)
    n = draw(st.integers(min_rows, max_rows))
    parts = st.one_of(st.integers(0, 4).map(float), st.floats(0.0, 10.0, allow_subnormal=False))
    rows = st.lists(parts, min_size=k, max_size=k).filter(lambda row: sum(row) > 1e-3)
    raw = np.array(draw(st.lists(rows, min_size=n, max_size=n)))
    label = draw(st.lists(st.integers(0, k - 1), min_size=n, max_size=n))
    weight = draw(st.lists(weights, min_size=n, max_size=n))
    return np.array(label), raw / raw.sum(axis=1, keepdims=True), np.array(weight, dtype=float)


def repeated(rows):
    """Labels and a forecast with each row as often as its whole weight says, and no weights."""
    label, prob, weight = rows
    times = weight.astype(int)
    return np.repeat(label, times), np.repeat(prob, times, axis=0), None


def dirichlet_rows(n, k, seed=0, concentration=1.0, power=1.0):
    """Labels drawn from probabilities of a Dirichlet distribution, and a forecast: these to a power, above one too bold."""
    rng = np.random.default_rng(seed)
    truth = rng.dirichlet(np.full(k, concentration), n)
    label = (rng.random((n, 1)) > truth.cumsum(axis=1)).sum(axis=1).clip(0, k - 1)
    prob = truth**power
    return label, prob / prob.sum(axis=1, keepdims=True)


def uniform_rows(n, seed=0, power=1.0):
    """Whether an event occurs, with probabilities that are spread evenly, to a power; and these probabilities."""
    rng = np.random.default_rng(seed)
    prob = rng.random(n)
    return rng.random(n) < prob**power, prob


def one_event(seed, n, stated=lambda z: z, *, true=lambda z: z, mean=0.0, spread=1.5):
    """Labels of an event with the log-odds ``true(z)``, and the forecast with the log-odds ``stated(z)``."""
    rng = np.random.default_rng(seed)
    z = rng.normal(mean, spread, n)
    return (rng.random(n) < expit(true(z))).astype(int), expit(stated(z))


def votes(n_classes, seed=0, n=80, parts=20):
    """Outcomes and rows of whole numbers that sum to 20: as decimals their sums differ from one by rounding."""
    rng = np.random.default_rng(seed)
    rows = rng.multinomial(parts, rng.dirichlet(np.full(n_classes, 2.0), n))
    outcome = [rng.choice(n_classes, p=row) for row in (rows + 0.5) / (rows + 0.5).sum(axis=1, keepdims=True)]
    return np.array(outcome), rows
