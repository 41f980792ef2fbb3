"""Tests of single predictions in their bins: which of them the events of the bin reject."""

from calibrant.metrics.rejections.acceptance import TestName, accepted, require_test
from calibrant.metrics.rejections.rows import Verdicts, verdicts

__all__ = ["TestName", "Verdicts", "accepted", "require_test", "verdicts"]
