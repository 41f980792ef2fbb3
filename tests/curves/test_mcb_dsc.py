"""The plane of miscalibration and discrimination."""

import itertools

import numpy as np
import pytest

from calibrant.curves import plot_mcb_dsc
from calibrant.metrics import corp_decomposition, murphy_decomposition

RNG = np.random.default_rng(0)
LOGIT = RNG.normal(0, 1.5, 1000)
OCCURRED = (RNG.random(1000) < 1 / (1 + np.exp(-LOGIT))).astype(int)


def forecast(steepness=1.0, noise=0.0):
    return 1 / (1 + np.exp(-steepness * (LOGIT + noise * RNG.normal(size=1000))))


def decompositions(**options):
    forecasts = {
        "logistic": forecast(),
        "over-confident": forecast(2.0),
        "shrunk": forecast(0.5),
        "noisy": forecast(noise=0.7),
        "noisier": forecast(noise=1.5),
        "as noisy again": forecast(noise=1.5),
        "climatology": np.full(1000, 0.5),
        "logistic, rounded": np.round(forecast(), 1),
    }
    return {name: corp_decomposition(OCCURRED, p, **options) for name, p in forecasts.items()}


def markers(ax):
    return [line for line in ax.lines if line.get_marker() != "None"]


def lines_of_equal_score(ax):
    return [line for line in ax.lines if line.get_marker() == "None"]


def texts(ax, names):
    return [text for text in ax.texts if text.get_text() in names]


@pytest.mark.filterwarnings("ignore:log loss")  # a rounded probability is 0
@pytest.mark.parametrize("score", ["brier", "log"])
def test_a_marker_stands_where_the_forecast_is(score):
    found = decompositions(score=score)
    ax = plot_mcb_dsc(found)
    places = [line.get_xydata()[0].tolist() for line in markers(ax)]
    assert places == [[d["miscalibration"], d["discrimination"]] for d in found.values()]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("miscalibration (MCB)", "discrimination (DSC)")
    assert ax.get_title().startswith(f"score {score}, uncertainty ")


def test_along_a_line_the_score_is_the_one_written_at_its_end():
    found = decompositions()
    ax = plot_mcb_dsc(found)
    uncertainty = found["logistic"]["uncertainty"]
    lines = lines_of_equal_score(ax)
    assert len(lines) >= 3
    labels = [text for text in ax.texts if text.get_text() and text.get_text() not in found]
    for line, label in zip(lines, labels, strict=True):
        mcb, dsc = line.get_data()
        np.testing.assert_allclose(mcb - dsc + uncertainty, float(label.get_text()), atol=1e-6)
        assert label.xy == (mcb[1], dsc[1])


def test_every_forecast_has_its_name_and_no_two_names_overlap():
    found = decompositions()
    ax = plot_mcb_dsc(found)
    ax.figure.canvas.draw()
    written = texts(ax, found)
    assert [text.get_text() for text in written] == list(found)
    boxes = [text.get_window_extent() for text in written]
    assert not any(a.overlaps(b) for a, b in itertools.combinations(boxes, 2))
    points = ax.transData.transform([line.get_xydata()[0] for line in markers(ax)])
    assert not any(box.contains(*point) for box in boxes for point in points)
    for box in boxes:
        assert ax.bbox.x0 <= box.x0
        assert box.x1 <= ax.bbox.x1
        assert ax.bbox.y0 <= box.y0
        assert box.y1 <= ax.bbox.y1


def test_a_single_forecast_and_forecasts_at_one_place_are_drawn():
    one = corp_decomposition(OCCURRED, forecast())
    plot_mcb_dsc({"only": one}).figure.canvas.draw()
    ax = plot_mcb_dsc({"first": one, "second": one, "third": one})
    ax.figure.canvas.draw()
    boxes = [text.get_window_extent() for text in texts(ax, ("first", "second", "third"))]
    assert not any(a.overlaps(b) for a, b in itertools.combinations(boxes, 2))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            lambda d: {},
            r"at least one forecast; got an empty dict\. Pass {'name': corp_decomposition\(y_true, y_prob\)}",
        ),
        (
            lambda d: {"a": murphy_decomposition(OCCURRED, forecast())},
            r"must be made by corp_decomposition; got .* for 'a'",
        ),
        (
            lambda d: {"a": d, "b": corp_decomposition(OCCURRED, forecast(), score="log")},
            r"of one score; got brier, log",
        ),
        (
            lambda d: {"a": d, "b": corp_decomposition(OCCURRED[:500], forecast()[:500])},
            r"must be of the same events; got",
        ),
    ],
    ids=["none", "not CORP", "two scores", "other events"],
)
def test_what_does_not_compare_is_refused(given, message):
    with pytest.raises(ValueError, match=message):
        plot_mcb_dsc(given(corp_decomposition(OCCURRED, forecast())))


def test_a_decomposition_without_a_name_is_refused():
    with pytest.raises(TypeError, match=r"must be a dict of name to Decomposition; got Decomposition\(.*Pass {'name':"):
        plot_mcb_dsc(corp_decomposition(OCCURRED, forecast()))
