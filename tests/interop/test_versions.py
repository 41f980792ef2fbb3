"""The versions that are shown are those of what is installed, and leave out no dependency."""

import re
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pytest

import calibrant
from calibrant import show_versions
from calibrant.interop import versions

PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]


@pytest.fixture
def shown(capsys):
    """What is printed, line by line: the name and the value."""
    show_versions()
    lines = capsys.readouterr().out.splitlines()
    return dict(line.strip().split(maxsplit=1) for line in lines if line.startswith("  ")) | {"first": lines[0]}


def test_versions_are_those_that_run(shown):
    assert shown["first"] == f"calibrant {calibrant.__version__}"
    assert shown["Python"].split()[0] == ".".join(map(str, sys.version_info[:3]))
    assert shown["numpy"] == np.__version__
    assert shown["scikit-learn"] == version("scikit-learn")


def test_a_package_that_is_missing_is_said_to_be_not_installed(monkeypatch, capsys):
    monkeypatch.setattr(versions, "OPTIONAL", ("no-such-package-of-anyone",))
    show_versions()
    assert re.search(r"^  no-such-package-of-anyone +not installed$", capsys.readouterr().out, flags=re.M)


def test_threads_are_shown_as_the_environment_limits_them(monkeypatch, capsys):
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    monkeypatch.delenv("MKL_NUM_THREADS", raising=False)
    show_versions()
    shown = capsys.readouterr().out
    assert re.search(r"^  OMP_NUM_THREADS +3$", shown, flags=re.M)
    assert re.search(r"^  MKL_NUM_THREADS +not set$", shown, flags=re.M)


def test_every_dependency_of_the_project_is_listed():
    def names(*groups):
        return {re.match(r"[\w-]+", line)[0] for group in groups for line in group} - {"calibrant"}

    extras = PROJECT["optional-dependencies"]
    assert set(versions.REQUIRED) == names(PROJECT["dependencies"])
    assert set(versions.OPTIONAL) == names(*(extras[e] for e in ("plot", "report", "table", "all"))) | {"pandas"}
