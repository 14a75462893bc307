"""The layout of the report in wide and narrow windows: visibility, scrolling and contrast."""

import re

import pytest

pytest.importorskip("selenium", reason="the browser tests need selenium")

WIDE, PHONE = (1280, 900), (400, 800)
BOXES = """
const boxes = (selector) => [...document.querySelectorAll(selector)].map((e) => e.getBoundingClientRect().toJSON());
return { frame: boxes('#matrix-frame')[0], heads: boxes('.matrix th.place'), rows: boxes('.matrix tbody tr'),
  first: boxes('.matrix tbody tr:first-child td:has(.cell)'), workload: boxes('.matrix tbody th')[0],
  scrolled: window.scrollY };
"""


def boxes(reader):
    """The positions of the parts of the matrix in the window."""
    return reader.execute_script(BOXES)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "phone"])
def test_text_has_contrast_and_nothing_overflows(reader, appear, scheme, size):
    appear(reader, scheme, *size)
    page_width, width = reader.execute_script("return [document.documentElement.scrollWidth, window.innerWidth]")
    assert page_width <= width == size[0]
    weak = reader.execute_script(CONTRAST, 4.5)
    assert weak == []
    dark = reader.execute_script("return getComputedStyle(document.body).backgroundColor") == "rgb(20, 23, 27)"
    assert dark is (scheme == "dark")


def test_the_page_scrolls_past_the_whole_matrix_and_its_header_stays(reader):
    found = boxes(reader)
    assert found["rows"][-1]["bottom"] <= found["frame"]["bottom"]
    assert found["frame"]["bottom"] - found["frame"]["top"] > WIDE[1]
    reader.execute_script("document.querySelector('.matrix tbody tr:last-child').scrollIntoView({block: 'center'})")
    later = boxes(reader)
    assert later["scrolled"] > found["scrolled"]
    assert {round(head["top"]) for head in later["heads"]} == {0}
    at = later["heads"][0]
    shown = "return document.elementFromPoint(arguments[0], arguments[1]).closest('th')?.className"
    assert reader.execute_script(shown, at["left"] + 20, at["top"] + 20) == "place"


@pytest.mark.parametrize("part", ["thead", "tbody"])
def test_header_and_cells_scroll_together_in_a_narrow_window(reader, appear, draw, part):
    appear(reader, "light", *PHONE)
    before = boxes(reader)
    assert before["heads"][-1]["right"] > before["frame"]["right"]
    reader.execute_script(f"document.querySelector('.matrix {part}').scrollLeft = 9999")
    draw(reader)
    after = boxes(reader)
    assert after["heads"][-1]["right"] <= after["frame"]["right"]
    assert [head["left"] for head in after["heads"]] == pytest.approx([cell["left"] for cell in after["first"]])
    assert after["workload"]["left"] == before["workload"]["left"]


def test_a_phone_shows_results_before_the_filters(reader, appear):
    is_open = "return document.getElementById('controls').open"
    assert reader.execute_script(is_open)
    appear(reader, "light", *PHONE)
    assert not reader.execute_script(is_open)
    reader.execute_script("document.getElementById('warnings').hidden = true")
    found = boxes(reader)
    assert found["rows"][0]["top"] <= 900
    assert sum(head["right"] <= found["frame"]["right"] for head in found["heads"]) >= 3
    appear(reader, "light", *WIDE)
    assert reader.execute_script(is_open)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_fastest_has_more_contrast_than_a_tie(reader, appear, scheme):
    appear(reader, scheme, *WIDE)
    ground = "return getComputedStyle(document.querySelector(arguments[0])).backgroundColor"
    card, fastest, tie = (
        luminance(reader.execute_script(ground, selector))
        for selector in (".matrix th:first-child", ".cell.fastest", ".cell.tie")
    )
    assert contrast(fastest, card) > 4.5
    assert contrast(tie, card) < 1.3


def luminance(colour):
    red, green, blue = (int(part) / 255 for part in re.fullmatch(r"rgb\((\d+), (\d+), (\d+)\)", colour).groups())
    return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue)


def linear(part):
    return part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4


def contrast(a, b):
    return (max(a, b) + 0.05) / (min(a, b) + 0.05)


CONTRAST = """
const canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
const rgba = (color) => {
  canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = color; canvas.fillRect(0, 0, 1, 1);
  return canvas.getImageData(0, 0, 1, 1).data;
};
const light = (c) => [0.2126, 0.7152, 0.0722].reduce((sum, weight, i) => {
  const part = c[i] / 255;
  return sum + weight * (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
}, 0);
const ground = (e) => {
  for (; e; e = e.parentElement) {
    const color = rgba(getComputedStyle(e).backgroundColor);
    if (color[3] === 255) return color;
  }
};
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
const weak = new Set();
let seen = 0;
while (walker.nextNode()) {
  const e = walker.currentNode.parentElement;
  if (!walker.currentNode.data.trim() || !e.checkVisibility() || e.closest('script')) continue;
  seen += 1;
  const style = getComputedStyle(e);
  const [a, b] = [light(rgba(e.closest('svg') ? style.fill : style.color)), light(ground(e))].sort((x, y) => y - x);
  if ((a + 0.05) / (b + 0.05) < arguments[0]) weak.add(`${e.tagName}.${e.className}: ${e.textContent.slice(0, 30)}`);
}
return seen > 300 ? [...weak] : [`only ${seen} texts`];
"""
