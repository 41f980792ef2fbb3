"""The parser of the command line: commands, options and their help.

An option is a line: its name, the word for its value, in brackets what is more to know of it, and its help. A word in square
brackets begins a group, with its description; of options that are ``either`` of several one may stand.
"""

import argparse
import re
import sys
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any, NoReturn

# Options about the files of a command: which are read, which of their rows and columns, and how one is written


SAMPLE = """\
--sample N (positive): take N of the rows, which are the same however the files are cut: for what needs all rows in memory
"""
ON_ERROR = """\
--on-error (raise|skip, =raise): what to do with a batch of rows that is wrong, such as one with a missing label, or a file
    that is damaged: 'skip' leaves it out and counts it (default: %(default)s)
"""
FILES = f"""\
files FILE (+): CSV, Parquet, Feather, NPZ, JSON, JSON lines or PT, - for standard input; several files,
    a folder, a pattern such as 'events/*.parquet' and an address such as s3://bucket/events/ are read in batches, as one table
{SAMPLE}{ON_ERROR}"""
CALIBRATION_SET = """\
file FILE: calibration set: predictions for rows that the classifier was not trained on
"""
OTHER = """\
--other FILE: held-out rows, such as the test set, to compare with: warn if the calibration rows look like training rows, or
    are in both files; all rows of this file that --where keeps are used, whatever --rows is
"""
ANSWERS = """\
--correct COLUMN: in place of --label: whether each answer was correct: true or false, 1 or 0, yes or no, C or I
--confidence COLUMN: in place of --prob: the stated probability that it is, from 0 to 1 or in percent
"""
FORECAST = """\
--label COLUMN: the column with the true class
--prob COLUMNS: probabilities: names, globs or ranges, such as p_0,p_1 or 'p_*' or p_0:p_9
--logit COLUMNS: logits, in place of probabilities
--rows START:STOP: use only these rows, counted from 0
--percent (either): the probabilities are percent, 0 to 100: divide them by 100
--normalize (either): divide rows by their sums instead of refusing them
"""
GUESSED = """\
[columns] Columns that are not named are guessed; the guess is printed, and an ambiguous one is refused.
"""
OF_ROWS = """\
--weight COLUMN: sample weights
--classes A,B,...: the class of each column, if names and labels do not show it
"""
WHERE = """\
--where CONDITION (all): use only the rows for which it holds, such as 'day >= 2026-10-01' or 'model = a'; may be repeated
"""
COLUMNS = f"{GUESSED}{FORECAST}{WHERE}{ANSWERS}{OF_ROWS}"
FORCE = """\
--force: replace the output if it exists, never what is read; of a symbolic link the file that it points to is replaced
"""
# What is measured of predictions, and how


NOTION = """\
[what is measured]
--notion NAME: binary (default of two classes, in one column or two), confidence (default of more), ...: see `calibrant list
    notions`; a metric with a notion in its name keeps it
--pos-label LABEL: of two classes, the event (default: 1, or the class of the second column)
"""
MEASURING = """\
[how to measure]
--metrics A,B: see `calibrant list metrics` (default: the usual ones); a report adds accuracy, nll and ece
--bins N (natural): number of bins of metrics that have no bins of their own (ace, debiased-ece, tace and tce keep theirs)
    (default: 15)
--binning NAME: bins of metrics that have no bins of their own (ace, debiased-ece, tace and tce keep theirs): see `calibrant
    list binnings` (default: equal-width); unique has no number of bins
--level A (float, =0.05): one minus the coverage of intervals; not the level of the tests in tce (default: %(default)s)
--resamples N (natural, =500): resamples behind intervals and p-values (default: %(default)s)
--clip P (float): least probability that counts in the log loss; with 0 it is infinite if an event of probability 0 occurred
    (default: 2.2e-16, as in scikit-learn)
--seed N (natural, =0): seed of the resampling (default: %(default)s)
"""


# The options of each command


ASSESS = f"""\
{FILES}\
--json: print JSON
--fail-if CONDITION (append): exit with 1 if it holds, or the figure is NaN, such as 'ece > 0.05' or 'ece.lower > 0'; may be
    repeated
{COLUMNS}{NOTION}{MEASURING}"""
TEST = f"""\
{FILES}\
--tests A,B: see `calibrant list tests` (default: the usual ones)
--json: print JSON
--fail-below P (float): exit with 1 if a p-value, by Holm's method, is below it, or a test is NaN
--resamples N (positive, =1000): draws behind the p-values of tests that draw labels; the smallest is 1 / (N + 1), times the
    number of tests by Holm's method (default: %(default)s)
--seed N (natural, =0): seed of these draws (default: %(default)s)
{COLUMNS}{NOTION}"""
ADVISE = f"""\
{CALIBRATION_SET}{OTHER}\
--seed N (natural, =0): seed of the folds (default: %(default)s)
{COLUMNS}"""
COMPARE = f"""\
files FILE (+): predictions of the same rows, such as those of two models; the first is the one that others are compared with.
    Files of different rows are compared as independent samples
--calibrators A,B: compare each also after these calibrators, which are fitted by cross-validation: see `calibrant list
    calibrators`; 'sms --safe' is sms within --safe
--model COLUMN: the rows of each value of this column of one file are the answers of one model
--forecasts A,B: columns of one file, each of which has the probability of the event by another model
--id COLUMNS: match rows by this column, or by several, and compare those that all files have; without it rows are paired
    by position, and only their labels are checked
--by COLUMNS: add the figures of each group of rows, such as --by topic; of several columns of each combination
--overlapping: the groups of --by are the values of each column and the pairs of values of two, with 30 rows or more
--over COLUMN: compare the periods of this column of one file, such as dates, with the first of them
--every PERIOD (day|week|month|quarter|year): how dates of --over are cut (default: each value is a period)
--names A,B: names of the files (default: the files' names)
--metric A,B (=nll): by which they are ranked, and others to show: see `calibrant list metrics` (default: %(default)s)
--folds N (positive, =5): folds of the cross-validation (default: %(default)s)
--jobs N (positive): calibrators that are fitted at the same time (default: 1)
--memory FOLDER: keep the forecasts of each calibrator there, so that a command that was stopped goes on where it was
--bins N (natural): number of bins of a metric that has no bins of its own (default: 15)
--binning NAME: bins of a metric that has no bins of its own: see `calibrant list binnings` (default: equal-width)
--level A (float, =0.05): one minus the coverage of intervals, and the level at which a difference is shown (default:
    %(default)s)
--resamples N (positive, =1000): draws behind p-values and intervals (default: %(default)s)
--seed N (natural, =0): seed of the folds and draws (default: %(default)s)
--pos-label LABEL: of two classes, the event (default: 1, or the class of the second column)
--json: print JSON
--fail-if CONDITION (append): exit with 1 if it holds for a candidate other than the first, or its figure is NaN; of the metric
    by which they are ranked, its difference from the first or an end of that interval: 'nll > 0.4', 'nll.difference > 0',
    'nll.lower > 0'; may be repeated
--report HTML: write a page as well: the ranked table, diagrams over one another, and the groups of --by, for which it adds ece
{FORCE}{COLUMNS}"""
FIT = f"""\
{CALIBRATION_SET}\
--method NAME: see `calibrant list calibrators` (default: evidence-scaling, above 500 classes sms; below 1000 rows, of two
    classes below 3000, with --safe; with --notion beta)
--notion NAME: for methods of one score: binary (default of two classes), class-wise (default of more), confidence, top-label,
    top-3-label, top-3-confidence, ...; see `calibrant list notions`
--set NAME=VALUE (append): a parameter of the method, such as parameters=ab; may be repeated
--safe: shrink the method toward no change, by a weight chosen by cross-validation
{OTHER}\
-o --output CALIBRATOR (required): the JSON file to write
{FORCE}{SAMPLE}{ON_ERROR}{COLUMNS}"""
APPLY = f"""\
calibrator CALIBRATOR: the JSON file that `calibrant fit` wrote
file FILE: CSV, Parquet, Feather or NPZ, or a folder; no label is needed
-o --output OUT (required): the file to write; its ending sets the format; of a folder a folder
--top: write two columns instead of the probabilities: predicted, the class with the highest probability before calibration,
    and probability, its calibrated probability; for calibrators fitted with --notion
{FORCE}{ON_ERROR}{COLUMNS}"""
EXPORT = f"""\
calibrator CALIBRATOR: the JSON file that `calibrant fit` wrote
--to TARGET (required, numpy|sql|onnx|torch|js): source for NumPy, a query, an ONNX model, source for torch or JavaScript
--dialect NAME: of a query: duckdb, postgres, sqlite, bigquery, snowflake, spark, ... (default: duckdb)
--table NAME: of a query: the table that is read (default: predictions)
--columns A,B: of a query: the columns that the calibrator takes, in the order of the classes (default: those that were fitted)
--keep A,B: of a query: columns that are selected as well, such as a key
-o --output OUT (required): the file to write
{FORCE}"""
DECIDE = f"""\
file FILE: predictions; with a label column, the cost of the decisions is printed
--costs ROWS: '0,4;1,0': a row for each class that is true, a column for each decision (default: an error costs 1)
--extra A,B: names of the columns of --costs beyond the classes (default: abstain)
--target-risk R (float): instead of --costs: the lowest confidence from which answers have at most this error rate, with a
    confidence of 95 %%; needs labels, or --correct and --confidence. With --output, rows below it get the decision abstain
-o --output OUT: write the file with columns decision and expected_cost
{FORCE}{COLUMNS}"""
REPORT = f"""\
files FILE (+): one or more files with the same columns, such as before and after calibration
-o --output HTML (required): the page to write
--calibrator CALIBRATOR: show the predictions of each file also after this calibrator
--picture PICTURE: draw the clinical panel of one event as well, as .png, .svg or .pdf; with --calibrator after it
--names A,B: names of the files in the report (default: the files' names)
--title TITLE (=Calibration report): title of the page
{FORCE}{SAMPLE}{ON_ERROR}{COLUMNS}{NOTION}{MEASURING}"""
MONITOR = f"""\
files FILE (+): files, or folders whose files are read in the order of their names
--json: print JSON
{FORCE}\
[windows and alarms]
--window W: a number of rows, or a time such as 1d, 6h or 1w, with --time (default: each value of --time, or each file)
--time COLUMN: the time of each row, or the name of its window
--reference N|FILE: how many of the first windows are the reference of drift, or a file (default: 1)
--by COLUMN: watch each group of rows by itself
--alpha A (float): probability of a false alarm, ever, of each test of a group (default: 0.05)
--fail-on-alarm: exit with 1 if there is an alarm that is new to the state
--state JSON: the sums so far: read if the file exists, and written; files that it holds are passed over; each run must have the
    same options
-o --output OUT: write a page (.html), a table (.csv) or both as .json
--bins N (positive): number of bins of equal width (default: 15)
--resamples N (positive, =200): draws behind each interval (default: %(default)s)
{GUESSED}{FORECAST}{OF_ROWS}{NOTION}"""
PLAN = f"""\
file FILE (?): predictions of a pilot; labels are not needed
--json: print JSON
[the question] Exactly one.
--detect E (float): true calibration error that a test is to detect
--width W (float): width of the interval of --metric that is wanted
--guarantee E (float): largest error after top-label histogram binning, by a theorem; takes --classes and --level
[the predictions] FILE, or predictions of a stated kind.
--classes K (positive): number of classes
--accuracy A (float): with --classes: accuracy of the predictions (default: 0.8)
--event-rate R (float): two classes, of which the event occurs in this share of the rows
--auc A (float): with --event-rate: area under the ROC curve (default: 0.8)
{FORECAST}\
--weight COLUMN: sample weights of the rows of FILE
[how]
--metric NAME: see `calibrant list metrics` (default: ece)
--notion NAME: see `calibrant list notions`
--bins N (natural): number of bins (default: 15)
--binning NAME: see `calibrant list binnings` (default: equal-width)
--wrong HOW: how the predictions are wrong: over-confident (default), under-confident, 'too high' or 'too low'
--power P (float): probability that the test detects the error (default: 0.8)
--level A (float): level of the test, one minus the coverage of the interval, or probability that the bound fails
    (default: 0.05)
--seed N (natural, =0): seed of the draws (default: %(default)s)
"""
DEMO = f"""\
-o --output HTML (=demo/report.html): the page to write (default: %(default)s)
{FORCE}"""
LIST = """\
kind (?, metrics|tests|notions|binnings|simplex-binnings|calibrators): only these
"""

COMMANDS = {
    "assess": ("commands", "measure how accurate and how well calibrated predictions are", ASSESS),
    "test": ("commands", "test whether predictions are calibrated", TEST),
    "advise": ("compare", "recommend a calibrator, if any, by cross-validation", ADVISE),
    "compare": ("compare", "compare models and calibrators on the same rows, and say which to take", COMPARE),
    "fit": ("fit", "fit a calibrator and save it as JSON", FIT),
    "apply": ("fit", "calibrate the predictions in a file", APPLY),
    "export": ("fit", "write a calibrator as NumPy source, SQL, ONNX, torch or JavaScript", EXPORT),
    "decide": ("commands", "choose the decision of least expected cost in each row", DECIDE),
    "report": ("compare", "write one HTML page that shows or compares predictions", REPORT),
    "monitor": ("watch", "watch calibration over time, with alarms", MONITOR),
    "plan": ("commands", "say how many rows are needed to detect an error, for an interval or a guarantee", PLAN),
    "demo": ("compare", "measure, calibrate and report a data set that comes with calibrant", DEMO),
    "list": ("commands", "list metrics, tests, notions, binnings and calibrators", LIST),
}
"""The module with ``run_NAME``, what the command does, and its options."""

OPTION = re.compile(r"(?P<flags>(?:-\w )?[\w-]+)(?: (?P<metavar>[^ (]+))?(?: \((?P<more>.+?)\))?: (?P<help>.+)")


def natural(text: str, least: int = 0) -> int:
    """Return a whole number of at least 0, or another one."""
    if not text.isdecimal() or int(text) < least:
        raise argparse.ArgumentTypeError(f"must be a whole number, {least} or more; got {text!r}")
    return int(text)


MORE: dict[str, dict[str, Any]] = {
    "natural": {"type": natural},
    "positive": {"type": partial(natural, least=1)},
    "float": {"type": float},
    "append": {"action": "append", "default": []},
    "all": {"action": "append"},
    "required": {"required": True},
    "+": {"nargs": "+"},
    "?": {"nargs": "?"},
    "either": {},
}


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
    for name, (module, what, options) in COMMANDS.items():
        command = subparsers.add_parser(name, help=what, description=what[0].upper() + what[1:] + ".")
        command.set_defaults(run=partial(_run, module, name))
        _add(command, options)
    return top


def _run(module: str, name: str, arguments: argparse.Namespace) -> int:
    """Run a command; only now is loaded what it needs."""
    run: Callable[[argparse.Namespace], int] = getattr(import_module(f"calibrant.cli.{module}"), f"run_{name}")
    return run(arguments)


def _add(parser: argparse.ArgumentParser, options: str) -> None:
    """Add the options of a text."""
    place: Any = parser
    either: Any = None
    for line in options.replace("\n    ", " ").splitlines():
        if line.startswith("["):
            title, _, description = line[1:].partition("]")
            place, either = parser.add_argument_group(title, description.strip() or None), None
            continue
        found = OPTION.fullmatch(line)
        assert found is not None, line
        more, how = (found["more"] or "").split(", "), dict[str, Any](help=found["help"])
        for word in filter(None, more):
            if word.startswith("="):
                how["default"] = how.get("type", str)(word[1:])
            else:
                how |= MORE[word] if word in MORE else {"choices": word.split("|")}
        if found["metavar"]:
            how["metavar"] = found["metavar"]
        elif "choices" not in how:
            how["action"] = "store_true"
        if "either" in more:
            either = either or place.add_mutually_exclusive_group()
        (either if "either" in more else place).add_argument(*found["flags"].split(), **how)


class Parser(argparse.ArgumentParser):
    """A parser that says what an unknown word was meant for, and whether its help could not be printed."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Refuse what is left over here: the command knows which options are near."""
        if word := next((word for word in args or () if re.fullmatch(r"--[\w-]+=--", word)), None):
            self.error(f"{word.removesuffix('=--')} must have a value; got --")  # argparse would drop it
        found, left_over = super().parse_known_args(args, namespace)
        if left_over:
            self.error(f"unrecognized arguments: {' '.join(left_over)}")
        return found, left_over

    def error(self, message: str) -> NoReturn:
        """Add the nearest words to a message about an unknown one."""
        from calibrant._core.checks import nearest, question

        known = [word for action in self._actions for word in action.option_strings if word.startswith("--")]
        if option := re.match(r"unrecognized arguments: (--[^\s=]+)", message):
            theirs = [f"calibrant {name} {option[1]}" for name, (*_, of) in COMMANDS.items() if f"\n{option[1]} " in of]
            names_both = option[1] == "--pos-label" and "--classes" in known
            near = ["--classes NEGATIVE,POSITIVE"] if names_both else theirs[:3] or nearest(option[1], known)
            message += f". {question(near)}".rstrip(". ")
        elif word := re.match(r"argument \S+: invalid choice: '([^']*)'", message):
            choices = [one for action in self._actions for one in action.choices or ()]
            message += f". {question(nearest(word[1], choices))}".rstrip(". ")
        super().error(message)

    def _print_message(self, message: str, file: Any = None) -> None:
        (file or sys.stderr).write(message)  # argparse would say nothing of a full disk


class _Version(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: Any, **__: Any) -> None:
        from calibrant.interop.versions import show_versions

        show_versions()
        parser.exit()
