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
    assert max(picture.stat().st_size for picture in pictures) < 60_000
