"""Rows on the page stand where their forecasts are, seen from one side, with tables of the same figures."""

import base64
import hashlib
import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import numpy as np
import pytest

from calibrant import assess, write_report
from calibrant.binning import RecursiveSplit
from calibrant.calibrators import CanonicalBinning
from calibrant.curves.simplex import mixed
from calibrant.curves.simplex_partition import CORNERS, simplex_points
from calibrant.report.page import MOST_POINTS, render, simplex_section

jinja2 = pytest.importorskip("jinja2")

NAMES = np.array(["ant", "bee", "cat", "dog"])
SPREAD = {k: np.random.default_rng(k).dirichlet(np.ones(k), 90) for k in (3, 4)}
OCCURRED = {k: np.array([np.random.default_rng(i).choice(k, p=p) for i, p in enumerate(SPREAD[k])]) for k in (3, 4)}
SVG = "{http://www.w3.org/2000/svg}"

each_number = pytest.mark.parametrize("k", [3, 4])


def points(k, **options):
    fitted = CanonicalBinning(RecursiveSplit(3), labels=NAMES[:k]).fit(SPREAD[k], NAMES[OCCURRED[k]])
    return simplex_points(NAMES[OCCURRED[k]], SPREAD[k], fitted, labels=NAMES[:k], **options)


def assessments(k):
    return {"f": assess(OCCURRED[k], SPREAD[k], n_resamples=1)}


def pictures(text):
    found = re.findall(r'<svg [^>]*class="simplex[^>]*>.*?</svg>', text, flags=re.DOTALL)
    return [ET.fromstring(svg.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1)) for svg in found]


def circles(picture):
    return next(g for g in picture if g.get("class") == "points").findall(f"{SVG}circle")


@each_number
def test_each_row_is_drawn_once_with_what_it_is(k):
    result = points(k)
    for picture, by in zip(pictures(render(assessments(k), simplex=result)), ("label", "calibrated"), strict=True):
        drawn = sorted((c.find(f"{SVG}title").text, c.get("fill")) for c in circles(picture))
        colour = mixed(result.calibrated) if by == "calibrated" else mixed(np.eye(k)[result.label])
        expected = sorted(
            (f"forecast {two(p)}; calibrated {two(q)}; label {NAMES[j]}", to_hex(c).lower())
            for p, q, j, c in zip(result.prob, result.calibrated, result.label, colour, strict=True)
        )
        assert [(said, fill.lower()) for said, fill in drawn] == expected


def to_hex(colour):
    return "#" + "".join(f"{round(255 * part):02X}" for part in colour)


def two(vector):
    return ", ".join(f"{part:.2f}" for part in vector)


def test_points_of_a_triangle_stand_among_its_corners_as_their_forecasts_say():
    result = points(3)
    (picture, _) = pictures(render(assessments(3), simplex=result))
    corner = np.array([numbers(c.get("transform")) for c in picture.iter(f"{SVG}circle") if c.get("class") == "corner"])
    drawn = np.array([[float(c.get("cx")), float(c.get("cy"))] for c in circles(picture)])
    np.testing.assert_allclose(drawn, result.prob @ corner, atol=0.15)
    assert corner[2, 1] < corner[0, 1] == corner[1, 1]  # the third class is above
    assert corner[0, 0] < corner[1, 0]


def numbers(text):
    return [float(part) for part in re.findall(r"-?\d+\.?\d*", text)][:2]


def test_a_tetrahedron_is_a_turned_picture_of_places_in_space():
    result = points(4)
    (view,) = simplex_section(result)
    axes = np.reshape(view["view"], (3, 3))
    np.testing.assert_allclose(axes @ axes.T, np.eye(3), atol=1e-5)
    # To the right, downward and to the eye are left-handed: so nothing is seen mirrored.
    assert np.linalg.det(axes) == pytest.approx(-1.0, abs=1e-5)
    marks = view["pictures"][0]["points"]
    at = np.array([mark["at"] for mark in marks])
    seen = at @ axes.T
    np.testing.assert_allclose([[mark["x"], mark["y"]] for mark in marks], seen[:, :2], atol=0.2)
    assert (np.diff(seen[:, 2]) > -0.4).all()  # the nearest last
    sizes = np.array([mark["size"] for mark in marks])
    np.testing.assert_allclose(np.argsort(sizes, kind="stable")[[0, -1]], [0, len(marks) - 1], atol=2)
    place = at / 280 + CORNERS[4].mean(axis=0)
    order = [int(np.argmin(((result.place - row) ** 2).sum(axis=1))) for row in place]
    assert sorted(order) == list(range(len(result.prob)))


def test_hidden_edges_are_those_with_nothing_but_hidden_faces():
    (view,) = simplex_section(points(4))
    axes = np.reshape(view["view"], (3, 3))
    corners = np.array([corner["at"] for corner in view["corners"]])
    for edge in view["edges"]:
        others = edge["ends"][2:]
        faces = []
        for away in others:  # the face opposite this corner
            a, b, c = (corners[m] for m in range(4) if m != away)
            normal = np.cross(b - a, c - a)
            outward = normal if normal @ (a - corners[away]) > 0 else -normal
            faces.append(outward @ axes[2] > 0)
        assert edge["hidden"] == (not any(faces))
    assert sum(edge["hidden"] for edge in view["edges"]) == 1
    assert [edge["hidden"] for edge in simplex_section(points(3))[0]["edges"]] == [False] * 3


@each_number
def test_splits_outside_are_counted_and_the_others_keep_their_numbers(k):
    result = points(k)
    outside = np.append(1.2, np.full(k - 1, -0.2 / (k - 1)))
    result = replace(result, splits=np.vstack([result.splits[:1], [outside, outside], result.splits[1:]]))
    text = render(assessments(k), simplex=result)
    _, calibrated = pictures(text)
    assert [g.find(f"{SVG}text").text for g in calibrated.iter(f"{SVG}g") if g.get("class") == "split"] == list("145")
    assert "; splits outside: 2 of 5</figcaption>" in text
    assert "splits outside" not in render(assessments(k), simplex=points(k))
    none_inside = render(assessments(k), simplex=replace(result, splits=outside[None]))
    assert "numbers: where" not in none_inside
    assert "; splits outside: 1 of 1</figcaption>" in none_inside


@each_number
def test_the_tables_hold_the_rows_of_each_class_and_of_each_vector(k):
    result = points(k)
    (view,) = simplex_section(result)
    for j, line in enumerate(view["by_class"]):
        own = result.label == j
        assert (line["name"], line["rows"]) == (NAMES[j], own.sum())
        assert line["forecast"] == two(result.prob[own].mean(axis=0))
        assert line["calibrated"] == two(result.calibrated[own].mean(axis=0))
    assert sum(line["rows"] for line in view["by_vector"]) == len(result.prob)
    for line in view["by_vector"]:
        own = np.array([two(q) == line["vector"] for q in result.calibrated])
        assert line["rows"] == own.sum()
        assert line["shares"] == two(np.eye(k)[result.label[own]].mean(axis=0))
    text = render(assessments(k), simplex=result)
    assert all(f"<td>{line['shares']}</td>" in text for line in view["by_vector"])


# The page


def policy(text):
    return re.search(r'Content-Security-Policy" content="([^"]*)"', text).group(1)


def test_only_a_tetrahedron_brings_the_script_that_turns_it_and_only_scripts_of_the_page_may_run():
    for text in (render(assessments(3)), render(assessments(3), simplex=points(3))):
        assert "Turns the tetrahedra" not in text
        assert "runs nothing but the script that sorts the tables.</footer>" in text
    text = render(assessments(4), simplex={"a": points(3), "b": points(4)})
    (script,) = re.findall(r"<script>(.*?)</script>", text, flags=re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert policy(text) == f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    assert "the script that turns the tetrahedra and sorts the tables.</footer>" in text
    assert not re.search(r"fetch|XMLHttp|import|eval|innerHTML|https?:|localStorage|cookie", script)


def test_the_script_may_run_where_files_have_other_ends_of_lines(monkeypatch):
    """A browser reads both ends of lines as one character before it hashes a script."""
    read = jinja2.PackageLoader.get_source

    def of_windows(self, environment, template):
        source, *rest = read(self, environment, template)
        return (source.replace("\n", "\r\n"), *rest)

    plain = render(assessments(4), simplex=points(4))
    monkeypatch.setattr(jinja2.PackageLoader, "get_source", of_windows)
    text = render(assessments(4), simplex=points(4))
    (script,) = re.findall(r"<script>(.*?)</script>", text, flags=re.DOTALL)
    assert "\r" not in script
    assert policy(text) == policy(plain)


def test_hostile_names_are_shown_and_not_run():
    hostile = "<script>alert(1)</script>\"'&{{ 7 * 7 }}"
    shown = simplex_points(["b", "c", hostile], np.eye(3), np.eye(3), labels=[hostile, "b", "c"])
    text = render(assessments(3), simplex={hostile: shown})
    assert text.count("<script>") == 1
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
    assert [corner["short"] for corner in simplex_section(shown)[0]["corners"]] == ["<script>a…", "b", "c"]


REFUSED = [
    (SPREAD[3], TypeError, "simplex must be of type SimplexPoints; got ndarray under 'forecast'"),
    ({"a": None}, TypeError, "got NoneType under 'a'"),
    (
        {"a": simplex_points(np.zeros(2001, int), np.full((2001, 3), 1 / 3), labels=[0, 1, 2], max_points=None)},
        ValueError,
        f"at most {MOST_POINTS} points; got 2001 under 'a'",
    ),
]


@pytest.mark.parametrize(("simplex", "error", "message"), REFUSED, ids=["array", "none", "many"])
def test_what_a_page_cannot_show_is_refused_and_nothing_is_written(simplex, error, message, tmp_path):
    with pytest.raises(error, match=message):
        write_report(assessments(3), tmp_path / "r.html", simplex=simplex)
    assert list(tmp_path.iterdir()) == []


# The command


def write(path, k, columns=None):
    order = list(range(k)) if columns is None else columns
    lines = [",".join(["label"] + [f"p_{NAMES[j]}" for j in order])]
    for label, prob in zip(OCCURRED[k], SPREAD[k].tolist(), strict=True):
        lines.append(",".join([NAMES[label], *(str(prob[j]) for j in order)]))
    path.write_text("\n".join(lines))
    return str(path)


@each_number
def test_the_command_shows_rows_of_three_and_four_classes(k, tmp_path, capsys):
    from calibrant.cli import main

    file, page = write(tmp_path / "f.csv", k), str(tmp_path / "r.html")
    assert main(["report", file, "-o", page, "--resamples", "1", "--points", "20"]) == 0
    (picture,) = pictures((tmp_path / "r.html").read_text(encoding="utf-8"))
    assert len(circles(picture)) == 20
    assert main(["report", file, "-o", page, "--resamples", "1", "--points", "0", "--force"]) == 0
    assert pictures((tmp_path / "r.html").read_text(encoding="utf-8")) == []
    assert main(["report", file, "-o", page, "--points", "2001", "--force"]) == 2
    assert "--points must be at most 2000" in capsys.readouterr().err


def test_the_command_shows_all_files_in_one_order_and_splits_where_it_is_the_fitted_one(tmp_path):
    from calibrant.cli import main

    fitted, turned = write(tmp_path / "fitted.csv", 3), write(tmp_path / "turned.csv", 3, [2, 0, 1])
    saved, page = str(tmp_path / "c.json"), str(tmp_path / "r.html")
    settings = ["--set", "max_regions=5", "--set", "smoothing=1"]
    assert main(["fit", fitted, "--method", "multiclass-irp", *settings, "-o", saved]) == 0
    assert main(["report", fitted, turned, "-o", page, "--calibrator", saved, "--resamples", "1"]) == 0
    _, first, _, second = pictures((tmp_path / "r.html").read_text(encoding="utf-8"))

    def splits(picture):
        return [g for g in picture.iter(f"{SVG}g") if g.get("class") == "split"]

    def vectors(picture):
        return sorted(re.findall(r"\d\.\d\d", c.find(f"{SVG}title").text) for c in circles(picture))

    assert len(splits(first)) == len(splits(second)) > 0
    assert vectors(first) == vectors(second)
    assert main(["report", turned, "-o", page, "--force", "--calibrator", saved, "--resamples", "1"]) == 0
    _, alone = pictures((tmp_path / "r.html").read_text(encoding="utf-8"))
    assert splits(alone) == []


def test_vectors_that_are_many_are_in_no_table():
    (view,) = simplex_section(simplex_points(OCCURRED[3], SPREAD[3], np.sqrt))
    assert view["by_vector"] == []


def test_a_class_without_rows_has_a_dash():
    (view,) = simplex_section(simplex_points([0, 0], SPREAD[3][:2]))
    assert [line["forecast"] for line in view["by_class"]][1:] == ["–", "–"]
    assert view["by_class"][0]["calibrated"] is None
