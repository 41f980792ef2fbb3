"""One recommendation: the default by classes and rows, in every place that names it, and more rows do not make it worse."""

import re
from pathlib import Path

import numpy as np
import pytest
from scipy.special import softmax

import calibrant
from calibrant import advise, cli
from calibrant.calibrators.classifier import default_method
from calibrant.interop.tables import write_table

DOCS = Path(__file__).parents[2]
PAGES = {"README.md": "## Which calibrator?", "docs/calibrators.md": "## Defaults"}


@pytest.mark.parametrize(
    ("n_classes", "n_rows", "words"),
    [
        (2, 1, "evidence-scaling --safe"),
        (2, 2999, "evidence-scaling --safe"),
        (2, 2999.5, "evidence-scaling --safe"),
        (2, 3000, "evidence-scaling"),
        (3, 999, "evidence-scaling --safe"),
        (3, 1000, "evidence-scaling"),
        (5, 20_001, "evidence-scaling"),
        (2, 10**9, "evidence-scaling"),
        (100, 1000, "evidence-scaling"),
        (101, 999, "sms --safe"),
        (101, 1000, "sms"),
        (3, np.nan, "evidence-scaling --safe"),
    ],
)
def test_the_default_by_classes_and_rows(n_classes, n_rows, words):
    assert str(default_method(n_classes, n_rows)) == words


def table_of(page):
    """The lines of the table below a heading."""
    section = (DOCS / page).read_text().split(PAGES[page])[1]
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in re.findall(r"^\|.*\|$", section, flags=re.M)]


def bounds(text, unit, most, n_classes=None):
    """The whole numbers that a cell such as ``1000 rows or more, up to 100 classes`` allows of rows or of classes."""
    if n_classes == 2:  # "1000 rows or more (two classes: 3000)"
        text = re.sub(r"[\d,]+ (rows[^(]*)\(two classes: ([\d,]+)\)", r"\2 \1", text)
    if found := re.search(rf"fewer than ([\d,]+) {unit}", text):
        return 1, number(found[1]) - 1
    if found := re.search(rf"([\d,]+) {unit} or more", text):
        return number(found[1]), most
    if found := re.search(rf"up to ([\d,]+) {unit}", text):
        return 2, number(found[1])
    if found := re.search(rf"more than ([\d,]+) {unit}", text):
        return number(found[1]) + 1, most
    raise AssertionError(f"{text!r} says nothing of {unit}")


def number(text):
    return int(text.replace(",", ""))


@pytest.mark.parametrize("page", PAGES)
def test_the_tables_name_what_is_fitted(page):
    """Each line of rows and classes, at all its ends; and together they leave nothing out."""
    lines = [line for line in table_of(page) if re.search(r"\d rows.*\d classes", line[0])]
    names, covered = {name: getattr(calibrant, name) for name in calibrant.__all__}, set()
    for condition, cell, *_ in lines:
        named = eval(cell.strip("`"), names)
        for n_classes in bounds(condition, "classes", 10**4):
            for n_rows in bounds(condition, "rows", 10**8, n_classes):
                made = default_method(n_classes, n_rows).calibrator()
                assert repr(made) == repr(named), (condition, n_classes, n_rows)
                covered.add((n_classes, n_rows))
    ends = dict.fromkeys((100, 101, 10**4), (1, 999, 1000, 10**8)) | {2: (1, 2999, 3000, 10**8)}
    assert covered == {(k, n) for k, sizes in ends.items() for n in sizes}


# One answer


def confused(n, n_classes, seed=0):
    """Labels and a forecast that is over-confident, too low for the last class, and takes each class for the next."""
    rng = np.random.default_rng([n_classes, seed])
    truth = 1.5 * rng.normal(size=(n, n_classes))
    label = (softmax(truth, axis=1).cumsum(axis=1) < rng.random((n, 1))).sum(axis=1).clip(max=n_classes - 1)
    return label, softmax(2.0 * truth - 0.8 * np.roll(truth, 1, axis=1) - np.linspace(0.0, 1.0, n_classes), axis=1)


@pytest.mark.parametrize(("n_classes", "n"), [(2, 600), (4, 600), (4, 1200)])
def test_fit_advise_and_the_report_give_one_answer(n_classes, n, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    y, prob = confused(n, n_classes)
    write_table("f.csv", {"label": y} | {f"p_{k}": column for k, column in enumerate(prob.T)})
    advice, default = advise(y, prob), default_method(n_classes, n)
    assert advice.candidates[-1].method == advice.recommended == str(default)
    assert repr(advice.calibrator()) == repr(default.calibrator())
    assert cli.main(["fit", "f.csv", "-o", "default.json"]) == 0
    assert capsys.readouterr().out.startswith(f"fitted {default} (the default; ")
    assert cli.main(advice.command.replace("CALIBRATION_FILE", "f.csv").split()[1:]) == 0
    assert Path("calibrator.json").read_text() == Path("default.json").read_text()
    assert cli.main(["report", "f.csv", "-o", "r.html", "--resamples", "99"]) == 0
    assert f"Next: fit {default} on a calibration set: {advice.command}." in capsys.readouterr().out


# More rows


def losses(n_classes, sizes, n_test=4000, seed=0):
    """Log loss of held-out rows, row by row, of the default fitted to the first rows of one sample, for each size."""
    y, prob = confused(n_test + max(sizes), n_classes, seed)
    test, label = prob[:n_test], y[:n_test]
    for size in sizes:
        rows = slice(n_test, n_test + size)
        fitted = (
            default_method(n_classes, size)
            .calibrator()
            .set_params(labels=np.arange(n_classes))
            .fit(prob[rows], y[rows])
        )
        yield -np.log(fitted.predict_proba(test)[np.arange(n_test), label])


def assert_no_worse(found, sizes, tolerance):
    """That no size is worse than the one before by more than the tolerance and two paired standard errors."""
    for (fewer, before), (more, after) in zip(
        zip(sizes, found, strict=True), list(zip(sizes, found, strict=True))[1:], strict=False
    ):
        rise = after - before
        assert rise.mean() <= tolerance + 2.0 * rise.std() / np.sqrt(rise.size), (fewer, more, rise.mean())


TOLERANCE = 0.002
"""Nats by which the default may be worse with more rows: the noise of one draw of them."""


@pytest.mark.parametrize("n_classes", [2, 5])
def test_more_rows_do_not_make_the_default_worse(n_classes):
    sizes = (100, 300, 1000, 3000)
    assert_no_worse(list(losses(n_classes, sizes)), sizes, TOLERANCE)
