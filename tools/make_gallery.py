"""Draw the pictures of docs/gallery.md by running it from top to bottom. Run: python -m tools.make_gallery

A block of code that is followed by a picture leaves that picture as the current figure.
"""

from __future__ import annotations

import io
import re
from pathlib import Path

PAGE = Path(__file__).parents[1] / "docs" / "gallery.md"
BLOCK = re.compile(r"^```python\n(.*?)^```$(?:\s+!\[[^\]]*\]\(([^)]*)\))?", flags=re.M | re.S)

DPI = 110
COLOURS = 256
"""Of a picture on disk: fewer bytes, and no difference that shows."""


def blocks() -> list[tuple[str, Path | None]]:
    """Return the blocks of code, each with the file of the picture that follows."""
    found = BLOCK.findall(PAGE.read_text(encoding="utf-8"))
    return [(code, PAGE.parent / picture if picture else None) for code, picture in found]


def draw() -> None:
    """Run the blocks and save the pictures."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt
    from PIL import Image

    names: dict[str, object] = {}
    for code, picture in blocks():
        exec(code, names)
        if picture is not None:
            drawn = io.BytesIO()
            plt.gcf().savefig(drawn, dpi=DPI)
            picture.parent.mkdir(parents=True, exist_ok=True)
            image = Image.open(drawn).convert("RGB").quantize(COLOURS, method=Image.Quantize.MAXCOVERAGE)
            image.save(picture, optimize=True)
        plt.close("all")


if __name__ == "__main__":
    draw()
