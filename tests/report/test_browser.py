"""The page in a real browser: offline, at the width of a telephone and of a desk, in light and in dark."""

import os
import shutil

import numpy as np
import pytest
from strategies import dirichlet_rows

from calibrant import TemperatureScaling, assess, compare, load_digits_forecast, write_report

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
def visit(browser, request):
    """Open a page, that of the digits or another, in a context of its own, which is closed after the test."""
    visits = []

    def visit(url=None, **options):
        visits.append(Visit(browser, url or request.getfixturevalue("url"), **options))
        return visits[-1]

    yield visit
    for opened in visits:
        opened.context.close()


def open_all(page):
    for details in page.query_selector_all("details"):
        details.evaluate("d => { d.open = true }")


def test_the_page_opens_offline_and_asks_for_nothing(visit, url):
    opened = visit()
    assert opened.page.title() == "Handwritten digits"
    assert opened.requests == [url]
    assert opened.complaints == []


CUT_TEXT = """() => [...document.querySelectorAll('svg text')].filter(text => {
    const [t, s] = [text.getBoundingClientRect(), text.ownerSVGElement.getBoundingClientRect()];
    return t.left < s.left - 1 || t.right > s.right + 1 || t.top < s.top - 1 || t.bottom > s.bottom + 1;
}).map(text => text.textContent)"""


OVERLAPPING = """() => [...document.querySelectorAll('svg.diagram')].flatMap(picture => {
    const seen = text => getComputedStyle(text).visibility === 'visible';
    const texts = [...picture.querySelectorAll('text')].filter(seen), found = [];
    texts.forEach((a, i) => texts.slice(i + 1).forEach(b => {
        const [p, q] = [a.getBoundingClientRect(), b.getBoundingClientRect()];
        const across = Math.min(p.right, q.right) - Math.max(p.left, q.left);
        const down = Math.min(p.bottom, q.bottom) - Math.max(p.top, q.top);
        if (across > 1 && down > 0.3 * Math.min(p.height, q.height)) found.push([a.textContent, b.textContent]);
    }));
    return found;
})"""


@pytest.mark.parametrize("width", [320, 390, 820, 1200])
def test_nothing_sticks_out_sideways_and_no_text_of_a_picture_is_cut_or_lies_on_another(width, visit):
    page = visit(viewport={"width": width, "height": 900}).page
    assert page.evaluate(CUT_TEXT) == []
    assert page.evaluate(OVERLAPPING) == []
    open_all(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= width


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


def test_print_is_dark_on_white_without_fields_and_with_whole_tables(visit, compared_url):
    opened = visit(compared_url, viewport={"width": 794, "height": 1100}, color_scheme="dark")
    opened.page.emulate_media(media="print")
    assert opened.page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert not any(field.is_visible() for field in opened.page.query_selector_all("input"))
    tall = "[...document.querySelectorAll('.tall')].filter(t => t.scrollHeight > t.clientHeight + 1).length"
    assert opened.page.locator(".tall").count() == 1
    assert opened.page.evaluate(tall) == 0


def test_heads_sort_the_classes_and_a_class_leads_to_its_diagram(visit):
    page = visit(viewport={"width": 1200, "height": 900}).page
    column = "[...document.querySelectorAll('.classes tbody tr')].map(r => parseFloat(r.cells[4].textContent))"
    for key, order in (("Enter", -1), ("Space", 1)):  # the largest first, then the least
        page.locator(".classes thead button").nth(4).focus()
        page.keyboard.press(key)
        assert (order * np.diff(page.evaluate(column)) >= 0).all()
    page.locator(".classes thead button").nth(0).click()
    assert page.locator(".classes tbody th").all_inner_texts() == [f"class {k}" for k in range(10)]
    row = page.locator(".classes tbody th button").nth(3)
    row.click()
    assert page.evaluate(FOCUSED) == row.inner_text()


FOCUSED = "document.activeElement.querySelector('figcaption').textContent"


@pytest.mark.parametrize(("page", "table"), [("url", ".classes"), ("compared_url", "[aria-label=Groups]")])
@pytest.mark.parametrize("width", [390, 1200])
def test_a_row_leads_to_its_diagram_which_grows_by_mouse_and_by_keyboard(page, table, width, visit, request):
    opened = visit(request.getfixturevalue(page), viewport={"width": width, "height": 900})
    page = opened.page
    rows, size = page.locator(f"{table} tbody tr[data-figure]"), "document.activeElement.getBoundingClientRect()"
    assert rows.count() >= 10
    for number, act in ((2, lambda row: row.locator("td").nth(0).click()), (4, lambda row: by_enter(page, row))):
        name = rows.nth(number).locator("th").inner_text()
        act(rows.nth(number))
        assert page.evaluate(FOCUSED) == name
        box = page.evaluate(f"[{size}.width, {size}.top, {size}.bottom, document.documentElement.scrollWidth]")
        assert box[0] > min(300, width - 50)  # the others are about 160 wide
        assert box[1] < 900
        assert box[2] > 0  # in sight
        assert box[3] <= width
        assert page.locator(".panels figure:focus svg").count() == 1
    assert opened.complaints == []


def by_enter(page, row):
    row.locator("th button").focus()
    page.keyboard.press("Enter")


def test_hover_and_focus_show_the_numbers_of_a_bin(visit):
    """Without a script: the numbers stand in the picture, seen where a point or its column of rows is pointed at."""
    page = visit(viewport={"width": 1200, "height": 900}, java_script_enabled=False).page
    half = len(load_digits_forecast()[0]) // 2
    bins = assess(*(one[half:] for one in load_digits_forecast()), n_resamples=1).curve.panels[0]
    held = np.flatnonzero(bins.bins.count)
    shown = ".overlay .bin .told text >> visible=true"
    assert page.locator(shown).count() == 0
    page.locator(".card.overlay input").nth(1).uncheck()  # bars of the other forecast lie over these
    points = page.locator(".card.overlay svg g.s0 .bin")
    assert points.count() == held.size
    for place, act in ((0, lambda bin_: bin_.focus()), (1, lambda bin_: bin_.locator(".count").hover())):
        act(points.nth(place))
        k = held[place]
        said = " ".join(page.locator(shown).all_text_contents())
        figures = [bins.bins.mean_prob[k], bins.bins.event_rate[k], bins.lower[k], bins.upper[k]]
        assert all(f"{figure:.3f}" in said for figure in figures)
        assert f", {bins.bins.count[k]} rows" in said
        page.evaluate("document.activeElement.blur()")


def test_a_forecast_is_left_out_of_all_diagrams_of_a_card_without_a_script(visit):
    page = visit(java_script_enabled=False).page
    before = page.locator(".card.overlay svg g.s0")
    assert before.is_visible()
    page.locator(".card.overlay input").first.uncheck()
    assert not before.is_visible()
    assert page.locator(".card.overlay svg g.s1").is_visible()
    assert page.locator(".panels g.s0").first.is_visible()


@pytest.mark.parametrize("n_classes", [2, 10, 20, 100])
def test_a_page_on_a_telephone_is_short_and_a_hundred_classes_are_a_table_to_search(n_classes, visit, tmp_path):
    y, prob = dirichlet_rows(3000, n_classes, concentration=0.3)
    before, after = (assess(y, p, n_resamples=9) for p in (prob, 0.9 * prob + 0.1 / n_classes))
    write_report({"before": before, "after": after}, tmp_path / "r.html")
    opened = visit((tmp_path / "r.html").as_uri(), viewport={"width": 390, "height": 900})
    assert opened.page.evaluate("document.documentElement.scrollHeight") < 6000
    cut = "[...document.querySelectorAll('.scroll')].filter(s => s.scrollWidth > s.clientWidth).length"
    assert opened.page.evaluate(cut) == 0
    leading = opened.page.locator(".classes tbody tr[data-figure]")
    assert leading.count() == (min(n_classes, 30) if n_classes > 2 else 0)
    if n_classes == 20:
        leading.nth(19).click()
        assert opened.page.evaluate(FOCUSED) == leading.nth(19).locator("th").inner_text()
    if n_classes == 100:
        opened.page.get_by_label("Show rows with").fill("class 77")
        assert opened.page.locator(".classes tbody tr:visible th").all_inner_texts() == ["class 77"]
    assert opened.complaints == []


AXE = os.environ.get("CALIBRANT_AXE", "node_modules/axe-core/axe.min.js")


@pytest.mark.skipif(not os.path.exists(AXE), reason="axe-core is not installed: npm install axe-core, or CALIBRANT_AXE")
@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (1440, "light")])
@pytest.mark.parametrize("address", ["url", "compared_url"])
def test_axe_finds_nothing_that_keeps_people_out(address, width, scheme, visit, request):
    address = request.getfixturevalue(address)
    opened = visit(address, viewport={"width": width, "height": 900}, color_scheme=scheme, bypass_csp=True)
    open_all(opened.page)
    opened.page.add_script_tag(path=AXE)
    found = opened.page.evaluate("axe.run()")["violations"]
    assert [(one["id"], one["nodes"][0]["html"]) for one in found] == []


@pytest.fixture(scope="module")
def compared_url(tmp_path_factory):
    """A comparison of one event, with many groups."""
    rng = np.random.default_rng(0)
    z = rng.normal(0, 1.5, 900)
    y, group = rng.random(900) < 1 / (1 + np.exp(-z)), rng.integers(0, 12, 900)
    forecasts = {"a": 1 / (1 + np.exp(-2 * z)), "b": 1 / (1 + np.exp(-z))}
    path = tmp_path_factory.mktemp("report") / "compared.html"
    write_report(compare(y, forecasts, by=group, metric=["nll", "ece"], n_resamples=19), path)
    return path.as_uri()


def test_groups_are_searched_and_a_comparison_fits_a_telephone(visit, compared_url):
    opened = visit(compared_url, viewport={"width": 390, "height": 900})
    assert opened.page.evaluate("document.documentElement.scrollHeight") < 6000
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= 390
    assert opened.page.evaluate(CUT_TEXT) == []
    opened.page.get_by_label("Show rows with").fill("11")
    shown = opened.page.locator("[aria-label=Groups] tbody tr:visible").all_inner_texts()
    assert shown
    assert all("11" in row for row in shown)


def test_long_names_and_large_counts_stick_out_nowhere(visit, tmp_path):
    prob = np.repeat([[0.7, 0.2, 0.1], [0.2, 0.7, 0.1]], 600_000, axis=0)
    name = "a_name_without_a_single_space_" * 5
    found = assess(np.arange(len(prob)) % 3, prob, n_resamples=1)
    write_report({f"{name}{i}": found for i in range(5)}, tmp_path / "r.html", title=name)
    opened = visit((tmp_path / "r.html").as_uri(), viewport={"width": 390, "height": 900})
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= 390
    assert opened.page.evaluate(CUT_TEXT) == []
