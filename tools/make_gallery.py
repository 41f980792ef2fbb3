"""Draw the pictures of docs/gallery.md by running it from top to bottom. Run: python -m tools.make_gallery

A block of code that is followed by a picture leaves that picture as the current figure.
"""

import io
import re
from pathlib import Path
from typing import Any

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
    from matplotlib import pyplot as plt
    from PIL import Image

    drawn = io.BytesIO()
    figure.savefig(drawn, dpi=min(DPI, widest / figure.get_size_inches()[0]))
    picture.parent.mkdir(parents=True, exist_ok=True)
    image = Image.open(drawn).convert("RGB").quantize(colours, method=Image.Quantize.MEDIANCUT, kmeans=2)
    image.save(picture, optimize=True)
    plt.close(figure)


def draw() -> None:
    """Run the blocks and save the pictures."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    names: dict[str, object] = {}
    for code, picture in blocks():
        exec(code, names)
        if picture is not None:
            save_picture(plt.gcf(), picture)
        plt.close("all")


if __name__ == "__main__":
    draw()
