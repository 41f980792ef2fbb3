"""A plugin of pytest that keeps how long each test takes, a line a phase of a test."""

import json
import os
from pathlib import Path

import pytest


class Seconds:
    """Writes as it goes, so that a run that is ended has something to show."""

    def __init__(self, path: Path) -> None:
        self.file = path.open("w")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.file.write(json.dumps([report.nodeid, report.duration, report.outcome]) + "\n")
        self.file.flush()


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Seconds(Path(os.environ["CALIBRANT_SECONDS"])))
