"""What a calibrator writes itself with, and is read with: `calibrant.interop.descriptions` has both."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from calibrant._core.registry import Kind
    from calibrant.notions import Notion


class Writing(Protocol):
    """Turns what a calibrator holds into what JSON can hold."""

    def value(self, value: Any) -> Any:
        """Return a parameter or a fitted attribute."""

    def state(self, calibrator: Any) -> dict[str, Any]:
        """Return what fitting found."""

    def notion(self, notion: Notion) -> str | dict[str, Any]:
        """Return a notion."""

    def word(self, kind: Kind, thing: object) -> str:
        """Return the word by which a thing is declared, or raise a TypeError."""


class Reading(Protocol):
    """Turns it back."""

    def unfitted(self, description: Any) -> Any:
        """Return a calibrator as it was told, not fitted."""

    def fitted(self, calibrator: Any, description: dict[str, Any]) -> Any:
        """Return a calibrator with the fitted attributes of a description."""

    def notion(self, description: Any) -> str | Notion | None:
        """Return a notion, or the word of one."""

    def part(self, description: Any, name: str, kind: type) -> Any:
        """Return a part of a description, which must be there and of its kind."""
