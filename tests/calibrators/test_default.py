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

PAGES = [Path(__file__).parents[2] / page for page in ("README.md", "docs/calibrators.md")]
DEFAULTS = {
    "fewer than 1000 rows (two classes: 3000), up to 500 classes": (
        "evidence-scaling --safe",
        [(2, 1), (2, 2999), (2, 2999.5), (3, 999), (3, np.nan), (500, 999)],
    ),
    "1000 rows or more (two classes: 3000), up to 500 classes": (
        "evidence-scaling",
        [(2, 3000), (3, 1000), (5, 20_001), (2, 10**9), (500, 1000)],
    ),
    "fewer than 1000 rows, more than 500 classes": ("sms --safe", [(501, 1), (501, 999)]),
    "1000 rows or more, more than 500 classes": ("sms", [(501, 1000), (10**4, 10**8)]),
}


@pytest.mark.parametrize("condition", DEFAULTS)
def test_the_default_by_classes_and_rows_is_what_the_pages_name(condition):
    words, sizes = DEFAULTS[condition]
    assert {str(default_method(*size)) for size in sizes} == {words}
    names = {name: getattr(calibrant, name) for name in calibrant.__all__}
    for page in PAGES:
        table = dict(re.findall(r"^\| ([^|]* rows[^|]* \d+ classes) \| `([^|]*)` \|", page.read_text(), flags=re.M))
        assert table.keys() == DEFAULTS.keys()
        made = {repr(default_method(*size).calibrator(size[0])) for size in sizes}
        assert made == {repr(eval(table[condition], names))}


# One answer


def confused(n, n_classes, seed=0):
    """Labels and a forecast that is over-confident, too low for the last class, and takes each class for the next."""
    rng = np.random.default_rng([n_classes, seed])
    truth = 1.5 * rng.normal(size=(n, n_classes))
    label = (softmax(truth, axis=1).cumsum(axis=1) < rng.random((n, 1))).sum(axis=1).clip(max=n_classes - 1)
    return label, softmax(2.0 * truth - 0.8 * np.roll(truth, 1, axis=1) - np.linspace(0.0, 1.0, n_classes), axis=1)


@pytest.mark.first(2)
@pytest.mark.parametrize(("n_classes", "n"), [(2, 600), (4, 1200), (4, 600)])
def test_fit_advise_and_the_report_give_one_answer(n_classes, n, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    y, prob = confused(n, n_classes)
    write_table("f.csv", {"label": y} | {f"p_{k}": column for k, column in enumerate(prob.T)})
    advice, default = advise(y, prob), default_method(n_classes, n)
    assert advice.candidates[-1].method == advice.recommended == str(default)
    assert repr(advice.calibrator()) == repr(default.calibrator(n_classes))
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
        calibrator = default_method(n_classes, size).calibrator(n_classes).set_params(labels=range(n_classes))
        fitted = calibrator.fit(prob[4000 : 4000 + size], y[4000 : 4000 + size])
        loss = -np.log(fitted.predict_proba(prob[:4000])[np.arange(4000), y[:4000]])
        if before is not None:
            rise = loss - before
            assert rise.mean() <= 0.002 + 2.0 * rise.std() / np.sqrt(rise.size), size
        before = loss
