"""How the time to fit grows with the data: a table of seconds, the exponent, and a picture."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from benchmarks.fitting import WARM_UP_CLASSES, WARM_UP_ROWS, Method
from benchmarks.measure import interleaved, markdown

MOST_ROUNDS, LAST = 3, 4
"""The exponent is that of the last sizes: before, what is the same for all sizes counts."""


@dataclass(frozen=True)
class Cost:
    """A section of the page: seconds to fit ``methods`` at each of some sizes, ``shape`` of which gives rows and classes.

    What was measured stays in ``seconds``: pairs of size and seconds by method.
    """

    TITLE: str
    varies: str
    fixed: str
    shape: Callable[[int], tuple[int, int]]
    make: Callable[..., tuple[np.ndarray, np.ndarray]]
    methods: Mapping[str, Callable[[np.ndarray, np.ndarray], Method]]
    sizes: tuple[int, ...]
    quick: tuple[int, ...]
    picture: str
    note: str = ""
    seconds: dict[str, list[tuple[float, float]]] = field(default_factory=dict)

    def tables(self, rounds: int, quick: bool) -> str:
        """Measure each method at each size and return this part of the page."""
        sizes = self.quick if quick else self.sizes
        rows, classes = self.shape(sizes[0])
        tiny = self.make(min(rows, WARM_UP_ROWS), min(classes, WARM_UP_CLASSES), seed=0)
        for prepared in self.methods.values():
            prepared(*tiny).fit()  # what is compiled is compiled here
        self.seconds.update({name: [] for name in self.methods})
        for size in sizes:
            data = self.make(*self.shape(size), seed=0)
            calls = {name: prepared(*data).fit for name, prepared in self.methods.items()}
            for name, timing in interleaved(calls, min(rounds, MOST_ROUNDS), warm_up=False).items():
                self.seconds[name].append((size, timing.median))
        text = (
            f"Seconds to fit, calibrant alone, {self.fixed}; medians of up to {MOST_ROUNDS} rounds. Exponent: the slope of "
            f"log seconds over log {self.varies}, by least squares over the last {LAST} sizes.{self.note}"
        )
        lines = [
            [name, *(f"{seconds:.3g}" for _, seconds in found), f"{exponent(found):.2f}"]
            for name, found in self.seconds.items()
        ]
        table = markdown([self.varies, *(f"{size:,}" for size in sizes), "exponent"], lines)
        return f"{text}\n\n{table}\n\n![Seconds to fit over {self.varies}](images/{self.picture})"

    def draw(self, images: Path) -> None:
        """Draw what was measured last."""
        from studies.na_isotonic.pictures import draw_times  # draws pictures of seconds

        draw_times(self.seconds, f"{self.varies} ({self.fixed})", images / self.picture)


def exponent(found: list[tuple[float, float]]) -> float:
    """Slope of log seconds over log size at the last sizes."""
    size, seconds = np.log(found[-LAST:]).T
    return float(np.polyfit(size, seconds, 1)[0])
