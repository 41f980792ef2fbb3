"""Options about the files of a command: which are read, which of their rows and columns, and how one is written."""

from __future__ import annotations

import argparse

from calibrant.cli.whole_numbers import positive


def files_argument(parser: argparse.ArgumentParser) -> None:
    """Add the files that are read, and how they are."""
    parser.add_argument(
        "files", nargs="+", metavar="FILE",
        help="CSV, Parquet, Feather or NPZ; several files, a folder, a pattern such as 'events/*.parquet' and an address such "
        "as s3://bucket/events/ are read in batches, as one table",
    )  # fmt: skip
    sample_option(parser)
    error_option(parser)


def sample_option(parser: argparse.ArgumentParser) -> None:
    """Add --sample."""
    parser.add_argument(
        "--sample", type=positive, metavar="N",
        help="take N of the rows, which are the same however the files are cut: for what needs all rows in memory",
    )  # fmt: skip


def error_option(parser: argparse.ArgumentParser) -> None:
    """Add --on-error."""
    parser.add_argument(
        "--on-error", choices=("raise", "skip"), default="raise",
        help="what to do with a batch of rows that is wrong, such as one with a missing label, or a file that is damaged: "
        "'skip' leaves it out and counts it (default: %(default)s)",
    )  # fmt: skip


def data_options(parser: argparse.ArgumentParser) -> None:
    """Add which columns hold what: predictions, labels, weights."""
    data = parser.add_argument_group(
        "columns", "Columns that are not named are guessed; the guess is printed, and an ambiguous one is refused."
    )
    forecast_options(data)
    data.add_argument("--weight", metavar="COLUMN", help="sample weights")
    data.add_argument(
        "--classes", metavar="A,B,...", help="the class of each column, if names and labels do not show it"
    )


def forecast_options(data: argparse._ArgumentGroup) -> None:
    """Add which columns and rows are predictions and labels, and on what scale."""
    data.add_argument("--label", metavar="COLUMN", help="the column with the true class")
    data.add_argument(
        "--prob", metavar="COLUMNS", help="probabilities: names, globs or ranges, such as p_0,p_1 or 'p_*' or p_0:p_9"
    )
    data.add_argument("--logit", metavar="COLUMNS", help="logits, in place of probabilities")
    data.add_argument("--rows", metavar="START:STOP", help="use only these rows, counted from 0")
    scale = data.add_mutually_exclusive_group()
    scale.add_argument(
        "--percent", action="store_true", help="the probabilities are percent, 0 to 100: divide them by 100"
    )
    scale.add_argument("--normalize", action="store_true", help="divide rows by their sums instead of refusing them")


def other_option(parser: argparse.ArgumentParser) -> None:
    """Add --other."""
    parser.add_argument(
        "--other", metavar="FILE",
        help="held-out rows, such as the test set, to compare with: warn if the calibration rows look like training rows, or "
        "are in both files; all rows of this file are used, whatever --rows is",
    )  # fmt: skip


def force_option(parser: argparse.ArgumentParser) -> None:
    """Add --force."""
    parser.add_argument(
        "--force", action="store_true",
        help="replace the output if it exists, never what is read; of a symbolic link the file that it points to is replaced",
    )  # fmt: skip


def escape_option(parser: argparse.ArgumentParser) -> None:
    """Add --escape-formulas."""
    parser.add_argument(
        "--escape-formulas", action="store_true",
        help="in a CSV output put a quote (') before cells and column names that a spreadsheet would run as formulas, numbers "
        "excepted: those that begin with = + - @, a tab or an end of line",
    )  # fmt: skip
