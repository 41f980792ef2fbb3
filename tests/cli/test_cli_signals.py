"""A signal that tells a command to end ends it, whatever Python is doing at that moment."""

import signal
import time
from types import SimpleNamespace

import pytest

from calibrant import cli


@pytest.fixture(autouse=True)
def interruptible():
    """A shell has its jobs in the background ignore interrupts."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_request_to_end_that_arrives_in_a_deletion_is_not_lost(number, monkeypatch, capsys):
    class Dropped:
        def __del__(self):
            signal.raise_signal(number)

    def run(arguments):
        Dropped()
        time.sleep(5)
        return 0

    monkeypatch.setattr("calibrant.cli.parser", lambda: SimpleNamespace(parse_args=lambda _: SimpleNamespace(run=run)))
    begun = time.monotonic()
    assert cli.main([]) == 128 + number
    assert time.monotonic() - begun < 4
    assert "no file was left half written" in (said := capsys.readouterr().err)
    assert "Traceback" not in said
