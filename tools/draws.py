"""What the tools that draw calls and files share: draws until a time is over, and the options for it."""

import argparse
import time
from collections.abc import Iterator
from random import Random


def parser_of(name: str, doc: str | None) -> argparse.ArgumentParser:
    """Return the parser of a tool that draws until a time is over, or a number of draws is reached."""
    parser = argparse.ArgumentParser(prog=f"python -m tools.{name}", description=doc)
    parser.add_argument("seconds", type=float, nargs="?", default=60)
    parser.add_argument("seed", type=int, nargs="?", default=0)
    parser.add_argument("--most", type=int, default=10**9, metavar="N", help="stop after so many draws")
    return parser


def draws(seconds: float, seed: int, most: int) -> Iterator[tuple[int, Random]]:
    """Yield the number of each draw, and a source of chance that is its own, until the time is over."""
    end = time.monotonic() + seconds
    for number in range(most):
        if time.monotonic() > end:
            return
        yield number, Random(f"{seed} {number}")
