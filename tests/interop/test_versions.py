"""The versions that are shown are those of what is installed, and leave out no dependency."""

import re
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path

import numpy as np

import calibrant
from calibrant import show_versions
from calibrant.interop import versions

PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]


def test_versions_and_threads_are_those_that_run(monkeypatch, capsys):
    monkeypatch.setattr(versions, "OPTIONAL", ("no-such-package-of-anyone",))
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    monkeypatch.delenv("MKL_NUM_THREADS", raising=False)
    show_versions()
    first, *lines = capsys.readouterr().out.splitlines()
    shown = dict(line.strip().split(maxsplit=1) for line in lines if line.startswith("  "))
    assert first == f"calibrant {calibrant.__version__}"
    assert shown["Python"].split()[0] == ".".join(map(str, sys.version_info[:3]))
    assert (shown["numpy"], shown["scikit-learn"]) == (np.__version__, version("scikit-learn"))
    assert shown["no-such-package-of-anyone"] == "not installed"
    assert (shown["OMP_NUM_THREADS"], shown["MKL_NUM_THREADS"]) == ("3", "not set")


def test_every_dependency_of_the_project_is_listed():
    def names(*groups):
        return {re.match(r"[\w-]+", line)[0] for group in groups for line in group} - {"calibrant"}

    extras = PROJECT["optional-dependencies"]
    assert set(versions.REQUIRED) == names(PROJECT["dependencies"])
    assert set(versions.OPTIONAL) == names(*(extras[e] for e in ("plot", "report", "table", "all"))) | {"pandas"}
