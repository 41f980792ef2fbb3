"""What of this paper is in the library."""

from __future__ import annotations

from studies.coverage import Item

COVERAGE: tuple[Item, ...] = ()
