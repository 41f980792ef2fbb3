"""Pages that name figures of the study of harm agree with its tables."""

import re
from pathlib import Path

import numpy as np

DOCS = Path(__file__).resolve().parents[1] / "docs"
EXPERIMENTS = (54, 54, 42)
"""Of two classes with 100, 200 and 500 rows: two draws of the rows of each of 27 sets of predictions that has enough."""


def tables():
    """By table of the page: shares of harm in percent, without and with `SafeCalibrator`, of each method and number of rows."""
    page = (DOCS / "do-no-harm.md").read_text("utf-8")
    found = re.findall(r"^\| harm in % of experiments, K [=>] 2, .*\n.*\n((?:\|.*\n)+)", page, flags=re.M)
    assert "356 experiments" in page
    return [
        {
            name: np.array([pair.split("/") for pair in pairs], dtype=float)
            for name, *pairs in ([cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines())
        }
        for table in found
    ]


def test_pages_agree_on_what_to_take_for_two_classes_and_hundreds_of_rows():
    of_two, _ = tables()

    def harmed(names, safe):
        found = [np.average(of_two[name][:3, int(safe)], weights=EXPERIMENTS) for name in names]
        return " to ".join(dict.fromkeys(f"{share:.0f}" for share in (min(found), max(found))))

    structured, others = ("sms", "svs"), ("beta", "quadratic")
    said = (DOCS / "calibrators.md").read_text("utf-8")
    assert f"do harm in {harmed(('sms',), False)} % of the experiments, the others in {harmed(others, False)} %" in said
    assert harmed(structured, False) == "22"
    assert f"all in {harmed(structured + others, True)} %" in said
