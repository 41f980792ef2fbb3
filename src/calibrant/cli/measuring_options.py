"""Options about what is measured of predictions, and how."""

from __future__ import annotations

import argparse

from calibrant.cli.whole_numbers import natural

WITHOUT_OWN_BINS = "metrics that have no bins of their own (ace, debiased-ece, tace and tce keep theirs)"
"""What --bins and --binning are of. The registry knows these names; to ask it here would make --help slow."""


def notion_options(parser: argparse.ArgumentParser) -> None:
    """Add under which notion, and of which event."""
    spoken = parser.add_argument_group("what is measured")
    spoken.add_argument(
        "--notion",
        metavar="NAME",
        help="binary (default of two classes, in one column or two), confidence (default of more), ...: see `calibrant list "
        "notions`; a metric with a notion in its name keeps it",
    )
    spoken.add_argument(
        "--pos-label", metavar="LABEL", help="of two classes, the event (default: 1, or the class of the second column)"
    )


def assess_options(parser: argparse.ArgumentParser) -> None:
    """Add which metrics, their bins and their intervals."""
    how = parser.add_argument_group("how to measure")
    how.add_argument(
        "--metrics",
        metavar="A,B",
        help="see `calibrant list metrics` (default: the usual ones); a report adds accuracy, nll and ece",
    )
    how.add_argument("--bins", type=natural, metavar="N", help=f"number of bins of {WITHOUT_OWN_BINS} (default: 15)")
    how.add_argument(
        "--binning",
        metavar="NAME",
        help=f"bins of {WITHOUT_OWN_BINS}: see `calibrant list binnings` (default: equal-width); unique has no number of bins",
    )
    how.add_argument(
        "--level",
        type=float,
        default=0.05,
        metavar="A",
        help="one minus the coverage of intervals; not the level of the tests in tce (default: %(default)s)",
    )
    how.add_argument(
        "--resamples",
        type=natural,
        default=500,
        metavar="N",
        help="resamples behind intervals and p-values (default: %(default)s)",
    )
    how.add_argument(
        "--clip", type=float, metavar="P",
        help="least probability that counts in the log loss; with 0 it is infinite if an event of probability 0 occurred "
        "(default: 2.2e-16, as in scikit-learn)",
    )  # fmt: skip
    how.add_argument(
        "--seed", type=natural, default=0, metavar="N", help="seed of the resampling (default: %(default)s)"
    )
