"""The fault injector knows every writer, passes over what is whole, and sees what is not."""

import os
from random import Random

import pytest

from calibrant.interop import writing

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are copied as POSIX does")

if hasattr(os, "fork"):
    from tools import inject_faults
    from tools.inject_faults import Ended, broken_laws, undisturbed


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("inputs")
    inject_faults.make_inputs(folder)
    return folder


def job(output):
    return next(job for job in inject_faults.jobs() if job.output == output)


def test_every_writer_of_the_parser_and_of_the_package_is_known():
    assert {one.name for one in inject_faults.jobs()} == {*inject_faults.COMMANDS, *inject_faults.FUNCTIONS}


@pytest.mark.parametrize("kind", ["disk full", "failing step", "signal at a line", "two writers", "strange place"])
def test_accidents_break_no_law(kind, inputs):
    one = job("calibrator.json")
    whole = {one.output: undisturbed(one, inputs)}
    assert inject_faults.ACCIDENTS[kind](Random(1), one, inputs, whole) == []


def test_a_file_that_is_written_in_place_is_seen(inputs, monkeypatch):
    from contextlib import contextmanager

    from calibrant.interop import save as persistence

    @contextmanager
    def in_place(path, *, force=False):
        yield path if hasattr(path, "write_text") else type(inputs)(path)

    one = job("calibrator.json")
    whole = {one.output: undisturbed(one, inputs)}
    monkeypatch.setattr(persistence, "whole_file", in_place)
    assert writing.whole_file is not in_place
    assert inject_faults.full_disk(Random(3), one, inputs, whole)


LAWS = {
    "neither as it was nor whole": ({"out": b"half"}, Ended(2, "calibrant: error: x")),
    "exit code is 0, and the output is not there": ({}, Ended(0, "")),
    "not one of [0, 2]": ({"out": b"whole"}, Ended(1, "calibrant: x")),
    "a traceback": ({"out": b"whole"}, Ended(0, "Traceback (most recent call last)")),
    "not one sentence": ({}, Ended(2, "")),
    "it left ['.out.12345678.part']": ({".out.12345678.part": b""}, Ended(2, "calibrant: error: x")),
    "it left ['strange']": ({"strange": b""}, Ended(-9, "")),
}


@pytest.mark.parametrize(("law", "case"), LAWS.items(), ids=LAWS)
def test_each_broken_law_is_seen(law, case, tmp_path):
    files, end = case
    for name, text in files.items():
        (tmp_path / name).write_bytes(text)
    found = broken_laws(tmp_path, "out", before=None, whole=b"whole", end=end, codes={0, 2} if end.code >= 0 else {-9})
    assert law in found[0]
    assert len(found) == 1
