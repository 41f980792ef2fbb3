"""A plugin of pytest: one line for each twentieth of the tests, with the time, and for each that fails, at once."""

import time

import pytest

LINES = 20


class Progress:
    """Counts the tests that ended; the process that runs no test itself sees those of the workers."""

    def __init__(self) -> None:
        self.begun, self.total, self.done, self.failed, self.shown = time.monotonic(), 0, 0, 0, 0

    @pytest.hookimpl(tryfirst=True)
    def pytest_report_teststatus(self, report: pytest.TestReport) -> tuple[str, str, str] | None:
        return ("passed" if report.when == "call" else "", "", "") if report.passed or report.skipped else None

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: list[str]) -> None:
        self.total = len(ids)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self.total = max(self.total, len(session.items))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.failed += 1
            print(f"FAILED {report.nodeid} ({report.when}, {report.duration:.1f} s)")
            print("\n".join(report.longreprtext.splitlines()[-8:]), flush=True)  # a run that is stopped shows no more

    def pytest_runtest_logfinish(self) -> None:
        self.done += 1
        if self.done * LINES >= (self.shown + 1) * self.total:
            self.shown = self.done * LINES // self.total
            share, minutes = self.done / self.total, (time.monotonic() - self.begun) / 60
            bad = f", {self.failed} failed" if self.failed else ""
            print(f"{share:4.0%} of {self.total} tests after {minutes:.1f} minutes{bad}", flush=True)


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Progress())
