import numpy as np
import pytest

from calibrant.datasets import KnownTruth, load_survey_table_2, make_softmax_forecast, make_survey_forecast

MADE = [
    make_survey_forecast(8, model="under-confident", rng=0),
    make_survey_forecast(8, model="bayes-optimal", n_classes=3, rng=0),
    make_softmax_forecast(8, 4, rng=0),
    load_survey_table_2(),
]


@pytest.mark.parametrize("truth", MADE, ids=lambda truth: truth.name)
def test_arrays_have_the_shape_of_the_forecast_and_cannot_be_written_to(truth):
    assert truth.posterior.shape == truth.calibrated.shape == truth.prob.shape
    assert len(truth.y) == len(truth.prob)
    for array in (truth.y, truth.prob, truth.posterior, truth.calibrated, truth.x):
        assert array is None or not array.flags.writeable


def names(data):
    return list(getattr(data, "column_names", data.columns))


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_the_frame_has_a_column_for_each_column_of_the_truth(backend):
    pytest.importorskip(backend)
    binary, table = MADE[0].to_frame(backend), MADE[2].to_frame(backend)
    assert names(binary) == ["y", "prob", "posterior", "calibrated", "x"]
    assert names(table) == ["y", *(f"{what}_{j}" for what in ("prob", "posterior", "calibrated") for j in range(4))]
    assert np.asarray(binary["prob"]).tolist() == MADE[0].prob.tolist()


def test_what_has_no_closed_form_is_none():
    plain = KnownTruth(np.array([0]), np.array([0.5]), np.array([0.5]))
    assert plain.calibrated is plain.calibration_map is plain.x is None
    assert list(plain.to_frame("pandas").columns) == ["y", "prob", "posterior"]
