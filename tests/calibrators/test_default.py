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


DEFAULTS = {
    "evidence-scaling --safe": [(2, 1), (2, 2999), (2, 2999.5), (3, 999), (3, np.nan)],
    "evidence-scaling": [(2, 3000), (3, 1000), (5, 20_001), (2, 10**9), (100, 1000)],
    "sms --safe": [(501, 999)],
    "sms": [(501, 1000)],
}


@pytest.mark.parametrize("words", DEFAULTS)
def test_the_default_by_classes_and_rows(words):
    for n_classes, n_rows in DEFAULTS[words]:
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
    ends = dict.fromkeys((500, 501, 10**4), (1, 999, 1000, 10**8)) | {2: (1, 2999, 3000, 10**8)}
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


@pytest.mark.parametrize("n_classes", [2, 5])
def test_more_rows_do_not_make_the_default_worse(n_classes):
    """By more than 0.002 nats, the noise of one draw of rows, and two paired standard errors of the held-out rows."""
    y, prob = confused(7000, n_classes)
    before = None
    for size in (100, 300, 1000, 3000):
        calibrator = default_method(n_classes, size).calibrator().set_params(labels=range(n_classes))
        fitted = calibrator.fit(prob[4000 : 4000 + size], y[4000 : 4000 + size])
        loss = -np.log(fitted.predict_proba(prob[:4000])[np.arange(4000), y[:4000]])
        if before is not None:
            rise = loss - before
            assert rise.mean() <= 0.002 + 2.0 * rise.std() / np.sqrt(rise.size), size
        before = loss
