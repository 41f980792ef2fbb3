"""KS and Kuiper errors against their definitions, and against each other."""

import numpy as np
import pytest
from hypothesis import given
from reference import cumulative as reference
from strategies import columns, tables

from calibrant.metrics import kolmogorov_smirnov_error, kuiper_error


@given(rows=columns())
def test_the_distances_are_those_of_the_definition(rows):
    label, score, weight = rows
    y, p, w = label.tolist(), score.tolist(), weight.tolist()
    ks = kolmogorov_smirnov_error(label, score, sample_weight=weight)
    assert ks == pytest.approx(reference.kolmogorov_smirnov(y, p, w), abs=1e-12)
    kuiper = kuiper_error(label, score, sample_weight=weight)
    assert kuiper == pytest.approx(reference.kuiper(y, p, w), abs=1e-12)


@given(rows=tables())
def test_of_a_notion_the_error_is_the_mean_over_its_problems(rows):
    label, prob, weight = rows
    one_by_one = [
        kolmogorov_smirnov_error((label == j).astype(int), prob[:, j], sample_weight=weight, pos_label=1, labels=[0, 1])
        for j in range(prob.shape[1])
    ]
    assert kolmogorov_smirnov_error(label, prob, sample_weight=weight, notion="class-wise") == pytest.approx(
        np.mean(one_by_one), abs=1e-12
    )
