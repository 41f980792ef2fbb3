"""A plugin of pytest that keeps how long each test takes, and how much of a processor, a line a phase of a test."""

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest


class Seconds:
    """Writes as it goes, so that a run that is ended has something to show."""

    def __init__(self, path: Path) -> None:
        self.file = path.open("w")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        used = dict(report.user_properties).get("processor", 0.0) if report.when == "call" else 0.0
        self.file.write(json.dumps([report.nodeid, report.duration, report.outcome, used]) + "\n")
        self.file.flush()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    item.user_properties.append(("begun", time.process_time()))
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    begun = dict(item.user_properties)["begun"]
    try:
        return (yield)
    finally:
        item.user_properties.append(("processor", time.process_time() - begun))


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Seconds(Path(os.environ["CALIBRANT_SECONDS"])))
