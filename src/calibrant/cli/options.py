"""The parser of the command line: commands, options and their help."""

from __future__ import annotations

import argparse
import re
import sys
from typing import Any, NoReturn

from calibrant.cli import commands
from calibrant.cli.advise import run_advise, run_decide, run_plan
from calibrant.cli.commands import DRAWS
from calibrant.cli.fit import run_apply, run_fit
from calibrant.cli.inputs import natural, positive
from calibrant.cli.watch import run_monitor

# Options about the files of a command: which are read, which of their rows and columns, and how one is written


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


# Options about what is measured of predictions, and how


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


# The parser of the command line: commands, options and their help


class Parser(argparse.ArgumentParser):
    """A parser that says what an unknown word was meant for, and whether its help could not be printed."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Refuse what is left over here: the command knows which options are near."""
        found, left_over = super().parse_known_args(args, namespace)
        if left_over:
            self.error(f"unrecognized arguments: {' '.join(left_over)}")
        return found, left_over

    def error(self, message: str) -> NoReturn:
        """Add the nearest words to a message about an unknown one."""
        from calibrant._core.checks import nearest, question

        known = [word for action in self._actions for word in action.option_strings if word.startswith("--")]
        if option := re.match(r"unrecognized arguments: (--[^\s=]+)", message):
            message += f". {question(nearest(option[1], known))}".rstrip(". ")
        elif word := re.match(r"argument \S+: invalid choice: '([^']*)'", message):
            choices = [one for action in self._actions for one in action.choices or ()]
            message += f". {question(nearest(word[1], choices))}".rstrip(". ")
        super().error(message)

    def _print_message(self, message: str, file: Any = None) -> None:
        (file or sys.stderr).write(message)  # argparse would say nothing of a full disk


def parser() -> argparse.ArgumentParser:
    """Return the parser of the whole command line."""
    top = Parser(
        prog="calibrant",
        description="Measure, test, calibrate and plot the probabilities of classifiers.",
        epilog="calibrant COMMAND --help lists its options. Exit codes: 0 success, 1 a --fail-if gate failed, 2 bad use.",
    )
    top.add_argument(
        "--version", action=_Version, nargs=0, help="print the versions of calibrant and its dependencies and exit"
    )
    subparsers = top.add_subparsers(required=True, metavar="COMMAND")

    assess = _command(
        subparsers, "assess", commands.run_assess, "measure how accurate and how well calibrated predictions are"
    )
    files_argument(assess)
    data_options(assess)
    notion_options(assess)
    assess_options(assess)
    assess.add_argument("--json", action="store_true", help="print JSON")
    assess.add_argument(
        "--fail-if", action="append", default=[], metavar="CONDITION",
        help="exit with 1 if it holds, or the figure is NaN, such as 'ece > 0.05' or 'ece.lower > 0'; may be repeated",
    )  # fmt: skip

    test = _command(subparsers, "test", commands.run_test, "test whether predictions are calibrated")
    files_argument(test)
    data_options(test)
    notion_options(test)
    test.add_argument("--tests", metavar="A,B", help="see `calibrant list tests` (default: the usual ones)")
    test.add_argument("--json", action="store_true", help="print JSON")
    test.add_argument(
        "--fail-below",
        type=float,
        metavar="P",
        help="exit with 1 if a p-value, by Holm's method, is below it, or a test is NaN",
    )
    test.add_argument(
        "--resamples", type=positive, default=DRAWS, metavar="N",
        help="draws behind the p-values of tests that draw labels; the smallest is 1 / (N + 1), times the number of tests by "
        "Holm's method (default: %(default)s)",
    )  # fmt: skip
    test.add_argument("--seed", type=natural, default=0, metavar="N", help="seed of these draws (default: %(default)s)")

    advise = _command(subparsers, "advise", run_advise, "recommend a calibrator, if any, by cross-validation")
    advise.add_argument(
        "file", metavar="FILE", help="calibration set: predictions for rows that the classifier was not trained on"
    )
    other_option(advise)
    advise.add_argument("--seed", type=natural, default=0, metavar="N", help="seed of the folds (default: %(default)s)")
    data_options(advise)

    fit = _command(subparsers, "fit", run_fit, "fit a calibrator and save it as JSON")
    fit.add_argument(
        "file", metavar="FILE", help="calibration set: predictions for rows that the classifier was not trained on"
    )
    fit.add_argument(
        "--method",
        metavar="NAME",
        help="see `calibrant list calibrators` (default: evidence-scaling, above 100 classes sms; below 1000 rows with --safe; "
        "with --notion beta)",
    )
    fit.add_argument(
        "--notion", metavar="NAME",
        help="for methods of one score: binary (default of two classes), class-wise (default of more), confidence, top-label, "
        "top-3-label, top-3-confidence, ...; see `calibrant list notions`",
    )  # fmt: skip
    fit.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE",
        help="a parameter of the method, such as parameters=ab; may be repeated",
    )  # fmt: skip
    fit.add_argument(
        "--safe", action="store_true", help="shrink the method toward no change, by a weight chosen by cross-validation"
    )
    other_option(fit)
    fit.add_argument("-o", "--output", required=True, metavar="CALIBRATOR", help="the JSON file to write")
    force_option(fit)
    sample_option(fit)
    error_option(fit)
    data_options(fit)

    apply = _command(subparsers, "apply", run_apply, "calibrate the predictions in a file")
    apply.add_argument("calibrator", metavar="CALIBRATOR", help="the JSON file that `calibrant fit` wrote")
    apply.add_argument("file", metavar="FILE", help="CSV, Parquet, Feather or NPZ, or a folder; no label is needed")
    apply.add_argument(
        "-o",
        "--output",
        required=True,
        metavar="OUT",
        help="the file to write; its ending sets the format; of a folder a folder",
    )
    apply.add_argument(
        "--top", action="store_true",
        help="write two columns instead of the probabilities: predicted, the class with the highest probability before "
        "calibration, and probability, its calibrated probability; for calibrators fitted with --notion",
    )  # fmt: skip
    force_option(apply)
    error_option(apply)
    escape_option(apply)
    data_options(apply)

    decide = _command(subparsers, "decide", run_decide, "choose the decision of least expected cost in each row")
    decide.add_argument(
        "file", metavar="FILE", help="predictions; with a label column, the cost of the decisions is printed"
    )
    decide.add_argument(
        "--costs", metavar="ROWS",
        help="'0,4;1,0': a row for each class that is true, a column for each decision (default: an error costs 1)",
    )  # fmt: skip
    decide.add_argument(
        "--extra", metavar="A,B", help="names of the columns of --costs beyond the classes (default: abstain)"
    )
    decide.add_argument(
        "--old-prior",
        metavar="P",
        help="share of the event, or of each class, in the data on which the predictions are calibrated",
    )
    decide.add_argument("--new-prior", metavar="P", help="the same in the data to decide on")
    decide.add_argument("-o", "--output", metavar="OUT", help="write the file with columns decision and expected_cost")
    force_option(decide)
    escape_option(decide)
    data_options(decide)

    report = _command(
        subparsers, "report", commands.run_report, "write one HTML page that shows or compares predictions"
    )
    report.add_argument(
        "files",
        nargs="+",
        metavar="FILE",
        help="one or more files with the same columns, such as before and after calibration",
    )
    report.add_argument("-o", "--output", required=True, metavar="HTML", help="the page to write")
    report.add_argument(
        "--calibrator", metavar="CALIBRATOR", help="show the predictions of each file also after this calibrator"
    )
    report.add_argument("--names", metavar="A,B", help="names of the files in the report (default: the files' names)")
    report.add_argument("--title", default="Calibration report", help="title of the page")
    report.add_argument(
        "--points", type=natural, default=1000, metavar="N",
        help="with 3 or 4 classes: number of rows, drawn at random, to show as points of a triangle or tetrahedron; 0 for none "
        "(default: %(default)s)",
    )  # fmt: skip
    force_option(report)
    sample_option(report)
    error_option(report)
    data_options(report)
    notion_options(report)
    assess_options(report)

    _monitor_options(_command(subparsers, "monitor", run_monitor, "watch calibration over time, with alarms"))

    plan = _command(
        subparsers,
        "plan",
        run_plan,
        "compute how many rows are needed to detect an error, to estimate it or to calibrate",
    )
    plan.add_argument("file", nargs="?", metavar="FILE", help="predictions of a pilot; labels are not needed")
    _plan_options(plan)

    demo = _command(
        subparsers, "demo", commands.run_demo, "measure, calibrate and report a data set that comes with calibrant"
    )
    demo.add_argument(
        "-o", "--output", default="demo/report.html", metavar="HTML", help="the page to write (default: %(default)s)"
    )
    force_option(demo)

    show = _command(subparsers, "list", commands.run_list, "list metrics, tests, notions, binnings and calibrators")
    kinds = ["metrics", "tests", "notions", "binnings", "simplex-binnings", "calibrators"]
    show.add_argument("kind", nargs="?", choices=kinds, help="only these")
    return top


def _command(subparsers: Any, name: str, run: Any, what: str) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = subparsers.add_parser(
        name, help=what, description=what[0].upper() + what[1:] + "."
    )
    parser.set_defaults(run=run)
    return parser


def _monitor_options(monitor: argparse.ArgumentParser) -> None:
    monitor.add_argument(
        "files", nargs="+", metavar="FILE", help="files, or folders whose files are read in the order of their names"
    )
    how = monitor.add_argument_group("windows and alarms")
    how.add_argument(
        "--window", metavar="W",
        help="a number of rows, or a time such as 1d, 6h or 1w, with --time (default: each value of --time, or each file)",
    )  # fmt: skip
    how.add_argument("--time", metavar="COLUMN", help="the time of each row, or the name of its window")
    how.add_argument(
        "--reference",
        metavar="N|FILE",
        help="how many of the first windows are the reference of drift, or a file (default: 1)",
    )
    how.add_argument("--by", metavar="COLUMN", help="watch each group of rows by itself")
    how.add_argument(
        "--alpha",
        type=float,
        metavar="A",
        help="probability of a false alarm, ever, of each test of a group (default: 0.05)",
    )
    how.add_argument(
        "--fail-on-alarm", action="store_true", help="exit with 1 if there is an alarm that is new to the state"
    )
    how.add_argument(
        "--state",
        metavar="JSON",
        help="the sums so far: read if the file exists, with its options, and written; files that it holds are passed over",
    )
    how.add_argument("-o", "--output", metavar="OUT", help="write a page (.html), a table (.csv) or both as .json")
    how.add_argument("--bins", type=positive, metavar="N", help="number of bins of equal width (default: 15)")
    how.add_argument(
        "--resamples",
        type=positive,
        default=200,
        metavar="N",
        help="draws behind each interval (default: %(default)s)",
    )
    monitor.add_argument("--json", action="store_true", help="print JSON")
    force_option(monitor)
    data_options(monitor)
    notion_options(monitor)


def _plan_options(parser: argparse.ArgumentParser) -> None:
    question = parser.add_argument_group("the question", "Exactly one.")
    question.add_argument("--detect", type=float, metavar="E", help="true calibration error that a test is to detect")
    question.add_argument("--width", type=float, metavar="W", help="width of the interval of --metric that is wanted")
    question.add_argument(
        "--calibrate",
        metavar="METHOD",
        help="fewest rows with which this method seldom raised the log loss of held-out rows in the study of harm",
    )
    question.add_argument(
        "--guarantee", type=float, metavar="E", help="largest error after top-label histogram binning, by a theorem"
    )
    like = parser.add_argument_group("the predictions", "FILE, or predictions of a stated kind.")
    like.add_argument("--classes", type=positive, metavar="K", help="number of classes")
    like.add_argument(
        "--accuracy", type=float, metavar="A", help="with --classes: accuracy of the predictions (default: 0.8)"
    )
    like.add_argument(
        "--event-rate", type=float, metavar="R", help="two classes, of which the event occurs in this share of the rows"
    )
    like.add_argument(
        "--auc", type=float, metavar="A", help="with --event-rate: area under the ROC curve (default: 0.8)"
    )
    forecast_options(like)
    like.add_argument("--weight", metavar="COLUMN", help="sample weights of the rows of FILE")
    how = parser.add_argument_group("how")
    how.add_argument("--metric", metavar="NAME", help="see `calibrant list metrics` (default: ece)")
    how.add_argument("--notion", metavar="NAME", help="see `calibrant list notions`")
    how.add_argument("--bins", type=natural, metavar="N", help="number of bins (default: 15)")
    how.add_argument("--binning", metavar="NAME", help="see `calibrant list binnings` (default: equal-width)")
    how.add_argument(
        "--wrong", metavar="HOW",
        help="how the predictions are wrong: over-confident (default), under-confident, 'too high' or 'too low'",
    )  # fmt: skip
    how.add_argument(
        "--power", type=float, metavar="P", help="probability that the test detects the error (default: 0.8)"
    )
    how.add_argument(
        "--level", type=float, metavar="A",
        help="level of the test, or one minus the coverage of the interval (default: 0.05; of a guarantee 0.1)",
    )  # fmt: skip
    how.add_argument(
        "--safe",
        action="store_true",
        help="with --calibrate: the method within SafeCalibrator, as by `calibrant fit --safe`",
    )
    how.add_argument(
        "--harm",
        type=float,
        metavar="S",
        help="with --calibrate: tolerated share of experiments with harm (default: 0.1)",
    )
    how.add_argument("--seed", type=natural, default=0, metavar="N", help="seed of the draws (default: %(default)s)")
    parser.add_argument("--json", action="store_true", help="print JSON")


class _Version(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: Any, **__: Any) -> None:
        from calibrant.interop.versions import show_versions

        show_versions()
        parser.exit()
