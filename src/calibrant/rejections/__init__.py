"""Tests of single predictions in their bins: which of them the events of the bin reject."""

from calibrant.rejections.acceptance import TestName, accepted, require_test
from calibrant.rejections.rows import Verdicts, verdicts

__all__ = ["TestName", "Verdicts", "accepted", "require_test", "verdicts"]
