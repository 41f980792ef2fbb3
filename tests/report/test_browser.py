"""The page in a real browser: offline, at the width of a telephone and of a desk, in light and in dark."""

import os
import shutil

import numpy as np
import pytest

from calibrant import TemperatureScaling, assess, load_digits_forecast, write_report

playwright = pytest.importorskip("playwright.sync_api", reason="the browser tests need playwright")
CHROMIUM = os.environ.get("CALIBRANT_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed (Debian: apt install chromium)")


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    y, prob = load_digits_forecast()
    half = len(y) // 2
    repaired = TemperatureScaling().fit(prob[:half], y[:half]).predict_proba(prob[half:])
    path = tmp_path_factory.mktemp("report") / "report.html"
    assessments = {
        "before": assess(y[half:], prob[half:], n_resamples=99),
        "after temperature scaling": assess(y[half:], repaired, n_resamples=99),
    }
    write_report(assessments, path, title="Handwritten digits")
    return path.as_uri()


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


class Visit:
    """A page opened offline, with what the browser asked for and complained of."""

    def __init__(self, browser, url, **options):
        self.requests, self.complaints = [], []
        self.context = browser.new_context(offline=True, **options)
        self.page = self.context.new_page()
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.goto(url)


@pytest.fixture
def visit(browser, url):
    visits = []

    def visit(**options):
        visits.append(Visit(browser, url, **options))
        return visits[-1]

    yield visit
    for opened in visits:
        opened.context.close()


WIDTHS = {"small telephone": 320, "telephone": 390, "tablet": 820, "desk": 1200}

each_width = pytest.mark.parametrize("width", WIDTHS.values(), ids=WIDTHS)


def test_the_page_opens_offline_and_asks_for_nothing(visit, url):
    opened = visit()
    assert opened.page.title() == "Handwritten digits"
    assert opened.requests == [url]
    assert opened.complaints == []


@each_width
def test_nothing_sticks_out_sideways(width, visit):
    page = visit(viewport={"width": width, "height": 900}).page
    for details in page.query_selector_all("details"):
        details.evaluate("d => { d.open = true }")
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@each_width
def test_every_picture_is_visible_and_large_enough_to_read(width, visit):
    page = visit(viewport={"width": width, "height": 900}).page
    pictures = page.query_selector_all("svg.diagram")
    assert len(pictures) == 22
    for picture in pictures:
        box = picture.bounding_box()
        assert picture.is_visible()
        assert box["width"] >= 120
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width


CUT_TEXT = """() => [...document.querySelectorAll('svg text')].filter(text => {
    const [t, s] = [text.getBoundingClientRect(), text.ownerSVGElement.getBoundingClientRect()];
    return t.left < s.left - 1 || t.right > s.right + 1 || t.top < s.top - 1 || t.bottom > s.bottom + 1;
}).map(text => text.textContent)"""


@each_width
def test_no_text_of_a_picture_is_cut(width, visit):
    """Every label lies inside the picture that it belongs to."""
    page = visit(viewport={"width": width, "height": 900}).page
    assert page.evaluate(CUT_TEXT) == []


@each_width
def test_no_text_of_a_picture_lies_on_another(width, visit):
    page = visit(viewport={"width": width, "height": 900}).page
    overlapping = page.evaluate(
        """() => [...document.querySelectorAll('svg.diagram')].flatMap(picture => {
            const texts = [...picture.querySelectorAll('text')], found = [];
            texts.forEach((a, i) => texts.slice(i + 1).forEach(b => {
                const [p, q] = [a.getBoundingClientRect(), b.getBoundingClientRect()];
                const across = Math.min(p.right, q.right) - Math.max(p.left, q.left);
                const down = Math.min(p.bottom, q.bottom) - Math.max(p.top, q.top);
                if (across > 1 && down > 0.3 * Math.min(p.height, q.height)) found.push([a.textContent, b.textContent]);
            }));
            return found;
        })"""
    )
    assert overlapping == []


CONTRAST = """() => {
    const probe = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
    const rgb = colour => {
        probe.fillStyle = colour;
        probe.fillRect(0, 0, 1, 1);
        return [...probe.getImageData(0, 0, 1, 1).data];
    };
    const light = colour => rgb(colour).slice(0, 3).map(c => c / 255)
        .map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
        .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
    const behind = element => {
        for (let e = element; e; e = e.parentElement) {
            const colour = getComputedStyle(e).backgroundColor;
            if (rgb(colour)[3] && colour !== 'rgba(0, 0, 0, 0)') return colour;
        }
    };
    const ratios = [...document.querySelectorAll('p, li, th, td, h1, h2, h3, summary, footer, .soft, svg text')].map(e => {
        const style = getComputedStyle(e);
        const [a, b] = [light(e.tagName === 'text' ? style.fill : style.color), light(behind(e))];
        return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    });
    return {least: Math.min(...ratios), paper: light(behind(document.body))};
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_follows_the_colour_scheme_and_can_be_read(scheme, visit):
    """Text has at least the contrast of 4.5 that WCAG asks for (AA)."""
    found = visit(color_scheme=scheme).page.evaluate(CONTRAST)
    assert (found["paper"] < 0.05) == (scheme == "dark")
    assert found["least"] >= 4.5


def test_tables_of_bins_open_by_keyboard(visit):
    page = visit().page
    details = page.query_selector("details")
    table = details.query_selector("table")
    assert not table.is_visible()
    details.query_selector("summary").focus()
    page.keyboard.press("Enter")
    assert table.is_visible()
    page.keyboard.press("Space")
    assert not table.is_visible()


def test_every_picture_has_a_name_and_a_description_for_screen_readers(visit):
    page = visit().page
    names = [image.get_attribute("aria-labelledby") for image in page.get_by_role("img").all()]
    assert len(names) == 22
    assert page.get_by_role("img", name="Reliability diagram: confidence").count() == 2
    assert page.get_by_role("img", name="Reliability diagram: class 7").count() == 2


def test_the_page_prints_dark_on_white_even_where_the_screen_is_dark(visit):
    page = visit(color_scheme="dark").page
    page.emulate_media(media="print", color_scheme="dark")
    found = page.evaluate(CONTRAST)
    assert found["paper"] > 0.9
    assert found["least"] >= 4.5


def test_long_names_and_large_counts_stick_out_nowhere(browser, tmp_path):
    prob = np.repeat([[0.7, 0.2, 0.1], [0.2, 0.7, 0.1]], 600_000, axis=0)
    name = "a_name_without_a_single_space_" * 5
    found = assess(np.arange(len(prob)) % 3, prob, n_resamples=1)
    write_report({f"{name}{i}": found for i in range(5)}, tmp_path / "r.html", title=name)
    opened = Visit(browser, (tmp_path / "r.html").as_uri(), viewport={"width": 390, "height": 900})
    try:
        assert opened.page.evaluate("document.documentElement.scrollWidth") <= 390
        assert opened.page.evaluate(CUT_TEXT) == []
    finally:
        opened.context.close()
