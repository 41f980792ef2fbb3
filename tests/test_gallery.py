"""The gallery shows a picture for each of its examples. That the examples run is tested with those of the other pages."""

import importlib.util
from pathlib import Path

import pytest

TOOL = Path(__file__).resolve().parents[1] / "tools" / "make_gallery.py"


@pytest.fixture(scope="module")
def blocks():
    spec = importlib.util.spec_from_file_location("make_gallery", TOOL)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.blocks()


def test_every_example_but_the_first_has_a_picture_of_its_own(blocks):
    pictures = [picture for _, picture in blocks]
    assert pictures[0] is None
    assert None not in pictures[1:]
    assert len(set(pictures)) == len(pictures)


def test_every_picture_is_there_and_small_and_there_is_no_other(blocks):
    pictures = {picture for _, picture in blocks[1:]}
    folder = blocks[1][1].parent
    assert set(folder.iterdir()) == pictures
    assert max(picture.stat().st_size for picture in pictures) < 150_000


def test_a_picture_is_crisp_and_not_wider_than_two_columns_of_a_page(blocks):
    """Twice the 110 dots an inch of a usual screen, but for the widest; a figure is at least 4 inches wide."""
    from PIL import Image

    widths = []
    for _, picture in blocks[1:]:
        with Image.open(picture) as image:
            widths.append(image.width)
    assert min(widths) >= 800
    assert max(widths) <= 1600
