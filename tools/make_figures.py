"""Draw the pictures of README and documentation. Run: python -m tools.make_figures"""

from pathlib import Path

import matplotlib as mpl

import calibrant
from calibrant import plot_reliability, reliability_curve
from tools.make_gallery import save_picture

IMAGES = Path(__file__).parents[1] / "docs" / "images"

mpl.use("Agg")
y, prob = calibrant.load_digits_forecast()
repaired = calibrant.SafeCalibrator(calibrant.EvidenceScaling()).fit(prob[:748], y[:748]).predict_proba(prob[748:])
forecasts = {"before": prob[748:], "after": repaired}

curves = {name: reliability_curve(y[748:], forecast) for name, forecast in forecasts.items()}
save_picture(plot_reliability(curves).figure, IMAGES / "reliability.png")
save_picture(curves["before"].plot().figure, IMAGES / "reliability-before.png")

by_class = {
    name: reliability_curve(y[748:], forecast, notion="class-wise", binning=8) for name, forecast in forecasts.items()
}
axes = plot_reliability(by_class, panels=["class 0", "class 3", "class 8", "class 9"])
save_picture(axes[0].figure, IMAGES / "class-wise.png")

page = (IMAGES.parent / "monitoring.md").read_text(encoding="utf-8")
shown: dict[str, calibrant.Monitor] = {}
exec(page.split("```python\n")[1].split("```")[0], shown)
save_picture(shown["monitor"].plot()[0].figure, IMAGES / "monitor.png")
