"""Draw the pictures of docs/gallery.md by running it from top to bottom, and those of README and other pages.

Run: python -m tools.make_gallery [figures]; with "figures" those of README and other pages alone. A block of code that is
followed by a picture leaves that picture as the current figure.
"""

import io
import re
import sys
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib import pyplot as plt
from PIL import Image

import calibrant

PAGE = Path(__file__).parents[1] / "docs" / "gallery.md"
BLOCK = re.compile(r"^```python\n(.*?)^```$(?:\s+!\[[^\]]*\]\(([^)]*)\))?", flags=re.M | re.S)

DPI = 220
"""Dots an inch: two for each that a screen of usual density has, so that letters are crisp on denser ones."""

WIDEST = 1600
"""Pixels across the widest picture: two for each of a page's column."""

COLOURS = 256
"""Of a picture on disk: fewer bytes, and no difference that shows."""


def blocks() -> list[tuple[str, Path | None]]:
    """Return the blocks of code, each with the file of the picture that follows."""
    found = BLOCK.findall(PAGE.read_text(encoding="utf-8"))
    return [(code, PAGE.parent / picture if picture else None) for code, picture in found]


def save_picture(figure: Any, picture: Path, widest: int = WIDEST, colours: int = COLOURS) -> None:
    """Save a figure as a PNG of few colours, and close it."""
    drawn = io.BytesIO()
    figure.savefig(drawn, dpi=min(DPI, widest / figure.get_size_inches()[0]))
    picture.parent.mkdir(parents=True, exist_ok=True)
    image = Image.open(drawn).convert("RGB").quantize(colours, method=Image.Quantize.MEDIANCUT, kmeans=2)
    image.save(picture, optimize=True)
    plt.close(figure)


def draw_gallery() -> None:
    """Run the blocks and save the pictures."""
    names: dict[str, object] = {}
    for code, picture in blocks():
        exec(code, names)
        if picture is not None:
            save_picture(plt.gcf(), picture)
        plt.close("all")


def draw_figures() -> None:
    """Draw a forecast before and after it is repaired, and what the page of the monitor draws."""
    y, prob = calibrant.load_digits_forecast()
    repaired = calibrant.SafeCalibrator(calibrant.EvidenceScaling()).fit(prob[:748], y[:748]).predict_proba(prob[748:])
    forecasts, images = {"before": prob[748:], "after": repaired}, PAGE.parent / "images"

    curves = {name: calibrant.reliability_curve(y[748:], forecast) for name, forecast in forecasts.items()}
    save_picture(calibrant.plot_reliability(curves).figure, images / "reliability.png")
    save_picture(curves["before"].plot().figure, images / "reliability-before.png")

    options = {"notion": "class-wise", "binning": 8}
    by_class = {name: calibrant.reliability_curve(y[748:], forecast, **options) for name, forecast in forecasts.items()}
    by_panel = calibrant.plot_reliability(by_class, panels=["class 0", "class 3", "class 8", "class 9"])
    save_picture(by_panel[0].figure, images / "class-wise.png")

    page = (PAGE.parent / "monitoring.md").read_text(encoding="utf-8")
    shown: dict[str, calibrant.Monitor] = {}
    exec(page.split("```python\n")[1].split("```")[0], shown)
    save_picture(shown["monitor"].plot()[0].figure, images / "monitor.png")


if __name__ == "__main__":
    mpl.use("Agg")
    draw_figures()
    if sys.argv[1:] != ["figures"]:
        draw_gallery()
