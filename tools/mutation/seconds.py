"""A plugin of pytest that keeps how long each test takes."""

import json
import os
from collections import defaultdict
from pathlib import Path

import pytest

_seconds: dict[str, float] = defaultdict(float)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.outcome == "skipped":
        return
    _seconds[report.nodeid] += report.duration


def pytest_sessionfinish(session: pytest.Session) -> None:
    if not hasattr(session.config, "workerinput"):
        Path(os.environ["CALIBRANT_SECONDS"]).write_text(json.dumps(_seconds))
