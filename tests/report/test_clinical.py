"""The panel of one event prints the figures and draws the curves of the library, as clinical papers show them."""

import json
import re

import numpy as np
import pytest
from strategies import one_event

from calibrant import EqualMass, assess, compare, decision_curve, reliability_curve, smooth_reliability_curve
from calibrant.cli import main
from calibrant.drawing import DIAGONAL
from calibrant.exceptions import CalibrationWarning
from calibrant.interop.tables import write_table
from calibrant.report import plot_clinical
from calibrant.report.page import CLINICAL, LEAST_EVENTS, POINTS_A_LINE, render, summarise

pytest.importorskip("jinja2")
pytestmark = pytest.mark.usefixtures("few_draws")


def forecast(n=900, seed=0):
    y, p = one_event(seed, n, lambda z: 1.5 * z, mean=-1.0)
    return np.where(y, "ill", "well"), p


@pytest.fixture(scope="module", params=[None, "weights"])
def rows(request):
    y, p = forecast()
    weights = {} if request.param is None else {"sample_weight": np.arange(900) % 4}
    return {"y_true": y, "y_prob": p, "pos_label": "ill"} | weights


@pytest.fixture(scope="module")
def section(rows):
    return summarise({"f": assess(**rows, n_resamples=19)}, clinical=rows)["clinical"]


def test_the_figures_on_the_picture_are_those_of_assess(rows, section):
    (panel,) = section["panels"]
    own = assess(**rows, metrics=list(CLINICAL), n_resamples=19)
    weight = rows.get("sample_weight", np.ones(900))
    *figures, counted = panel["printed"]
    assert counted == f"{weight.sum():.0f} rows, {weight[rows['y_true'] == 'ill'].sum():.0f} events"
    for figure, (metric, called) in zip(figures, CLINICAL.items(), strict=True):
        found, printed = own[metric], re.fullmatch(rf"{re.escape(called)} (\S+) \((\S+) to (\S+)\)", figure).groups()
        assert list(map(float, printed)) == pytest.approx([found.value, found.lower, found.upper], rel=1e-3)


def test_curves_bands_deciles_and_net_benefit_are_those_of_the_library(rows, section):
    (panel,), (benefit,) = section["panels"], section["benefit"]
    assert panel["event"] == "class ill"
    for kind, smoother in (("flexible", "local"), ("logistic", "logistic")):
        (whole,) = smooth_reliability_curve(**rows, smoother=smoother).panels
        drawn = np.array(panel["lines"][kind])
        assert len(drawn) == POINTS_A_LINE
        for k, name in enumerate(("event_rate", "lower", "upper"), start=1):
            expected = np.interp(drawn[:, 0], whole.score, getattr(whole, name))
            np.testing.assert_allclose(expected, drawn[:, k], atol=2e-3)
    (deciles,) = reliability_curve(**rows, binning=EqualMass(10)).panels
    assert [one["event_rate"] for one in panel["deciles"]] == deciles.bins.event_rate.tolist()
    net = decision_curve(**rows)
    points = np.column_stack([net.threshold, net.panels[0].net_benefit, net.treat_all])
    np.testing.assert_allclose(benefit["points"], points, atol=1e-4)


def test_the_page_prints_the_figures_and_holds_no_rows(rows):
    found = assess(**rows, n_resamples=19)
    text = render({"f": found}, clinical=rows)
    assert '<h2 id="clinical">Calibration of class ill</h2>' in text
    (panel,) = summarise({"f": found}, clinical=rows)["clinical"]["panels"]
    assert all(f">{figure}<" in text for figure in panel["printed"])
    assert len(text) < 120_000


ODD = {
    "one score": np.full(200, 0.4),
    "separated": np.where(np.arange(200) % 2, 0.9, 0.1),
    "certain": np.where(np.arange(200) % 3, 0.0, 1.0),
}


@pytest.mark.filterwarnings("ignore::calibrant.exceptions.CalibrationWarning")
@pytest.mark.parametrize("prob", ODD.values(), ids=ODD)
def test_odd_but_legal_forecasts_have_a_panel_without_nan(prob):
    rows = {"y_true": np.arange(200) % 2, "y_prob": prob}
    found = {"f": assess(**rows, n_resamples=9)}
    json.dumps(summarise(found, clinical=rows), allow_nan=False)
    assert not re.search(r"\bnan\b", render(found, clinical=rows))


@pytest.mark.parametrize("n_events", [LEAST_EVENTS - 1, LEAST_EVENTS])
def test_a_panel_needs_ten_events(n_events):
    rows = {"y_true": np.arange(200) < n_events, "y_prob": np.linspace(0.3, 0.01, 200)}
    panels = summarise({"f": assess(**rows, n_resamples=9)}, clinical=rows)["clinical"]["panels"]
    assert len(panels) == (n_events == LEAST_EVENTS)


def test_numbers_beside_net_benefit_are_those_of_their_lines():
    rows = {"y_true": np.arange(200) < LEAST_EVENTS, "y_prob": np.linspace(0.3, 0.01, 200)}
    page = render({"f": assess(**rows, n_resamples=9)}, clinical=rows).split("Decision curve")[-1]
    told = [float(word) for word in re.findall(r'x="46"[^>]*>([^<]+)<', page)]
    assert told == pytest.approx([0.0, 0.0125, 0.025, 0.0375, 0.05], rel=0.05)


def test_rows_of_one_forecast_for_several_are_refused_and_those_of_several_are_drawn_together(rows):
    found = assess(**rows, n_resamples=9)
    with pytest.raises(TypeError, match="clinical must say which forecast it is about; got one for a, b"):
        summarise({"a": found, "b": found}, clinical=rows)
    section = summarise({"a": found, "b": found}, clinical={"b": rows, "a": rows})["clinical"]
    fewer = {name: of[:100] for name, of in rows.items() if name != "pos_label"}
    for other in (rows | {"y_prob": 0.9 * rows["y_prob"]}, fewer):
        with pytest.raises(ValueError, match="clinical must be of the rows that were assessed; got others of 'a'"):
            summarise({"a": found}, clinical={"pos_label": "ill"} | other)
    assert [(one["forecast"], one["number"]) for one in section["benefit"]] == [("a", 0), ("b", 1)]


def test_the_command_and_a_comparison_have_a_panel_of_one_event_and_of_no_other_notion(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    y, p = forecast(400)
    write_table("f.csv", {"label": y, "p_ill": p, "p_well": 1 - p}, force=False)
    words = ["report", "f.csv", "-o", "r.html", "--force", "--resamples", "9"]
    for more, has in (([], True), (["--pos-label", "ill"], True), (["--notion", "confidence"], False)):
        assert main([*words, *more]) == 0
        event = "ill" if more else "well"
        assert (f"Calibration of class {event}<" in (tmp_path / "r.html").read_text("utf-8")) == has
    text = render(compare(y, {"bold": p, "flat": 0.5 * p + 0.2}, pos_label="ill", n_resamples=9))
    assert "Calibration of class ill<" in text


def test_the_panel_is_a_picture_of_the_figures_and_curves_with_the_event_as_its_title(rows, section):
    ax = plot_clinical(**rows, n_resamples=19)
    (panel,), (text,) = section["panels"], ax.texts
    assert (ax.get_title(), panel["event"]) == ("ill", "class ill")
    assert text.get_text().splitlines() == panel["printed"]
    (deciles,) = (bars for bars in ax.containers if bars.has_yerr)
    held = [(one["mean_prob"], one["event_rate"]) for one in panel["deciles"]]
    np.testing.assert_allclose(deciles[0].get_xydata(), held)
    ends = np.array([segment[:, 1] for segment in deciles[2][0].get_segments()])
    np.testing.assert_allclose(ends, [(one["lower"], one["upper"]) for one in panel["deciles"]])
    assert [label.split(":")[0] for label in ax.get_legend_handles_labels()[1]] == [DIAGONAL, "flexible", "logistic"]
    for kind, place in (("flexible", 0), ("logistic", 1)):
        drawn, vertices = np.array(panel["lines"][kind]), np.vstack(ax.collections[2 * place + 1].get_segments())
        np.testing.assert_allclose(np.interp(drawn[:, 0], vertices[:, 0], vertices[:, 1]), drawn[:, 1], atol=5e-3)
    ax.figure.draw_without_rendering()
    words, page, square = text.get_window_extent(), ax.figure.bbox, ax.get_window_extent()
    assert square.x1 < words.x0 < words.x1 < page.x1


def test_a_picture_is_of_one_event():
    with pytest.raises(ValueError, match="there must be one event; got 3 classes"):
        plot_clinical([0, 1, 2], np.eye(3))
    with pytest.raises(ValueError, match="y_pred must be left out where one event is drawn"):
        plot_clinical([0, 1], [0.6, 0.7], y_pred=[0, 0])


def test_of_one_class_the_curves_are_not_defined():
    with pytest.warns(CalibrationWarning):
        ax = plot_clinical(np.zeros(20, dtype=int), np.linspace(0.1, 0.6, 20), labels=[0, 1], n_resamples=9)
    assert "logistic: not defined" in ax.get_legend_handles_labels()[1]


def test_the_command_draws_the_panel_of_one_file(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    y, p = forecast(200)
    write_table("f.csv", {"died": (y == "ill").astype(int), "risk": p}, force=False)
    words = ["report", "f.csv", "--label", "died", "--prob", "risk", "-o", "r.html", "--resamples", "9", "--picture"]
    assert main([*words, "p.svg"]) == 0
    drawn = (tmp_path / "p.svg").read_text("utf-8")
    assert "<!-- died -->" in drawn  # the event of zeros and ones is called as the column is
    assert f"<!-- 200 rows, {(y == 'ill').sum()} events -->" in drawn
    several = ["report", "f.csv", *words[1:], "p.png", "--force", "--names", "a,b"]
    for call, said in (
        ([*words, "p.svg"], "already exists"),
        ([*words, "p.txt", "--force"], "must end in .png or .svg or .pdf"),
        (several, "a picture must be of one forecast"),
    ):
        assert main(call) == 2
        assert said in capsys.readouterr().err
