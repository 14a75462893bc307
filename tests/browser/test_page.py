"""The functions of the report: every number is right, and hostile texts are not executed."""

import re

import pytest

from xarrayops.bench.report import page
from xarrayops.bench.results import STATUSES, Results

pytest.importorskip("selenium", reason="the browser tests need selenium")

from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.select import Select

TIMES, DASH = "\N{MULTIPLICATION SIGN}", "\N{EN DASH}"
PLACES = ("numpy", "torch", "jax", "cupy")
UNITS = {"s": 1.0, "ms": 1e-3, "µs": 1e-6, "ns": 1e-9}


def all_of(root, selector):
    return root.find_elements(By.CSS_SELECTOR, selector)


def one(root, selector):
    return root.find_element(By.CSS_SELECTOR, selector)


def texts(root, selector):
    return root.execute_script(
        "return [...document.querySelectorAll(arguments[0])].map((e) => e.textContent)", selector
    )


def lines(reader):
    """The rows of the matrix: workload, n and dtype, and the text of each cell."""
    return reader.execute_script(LINES)


def seconds(text):
    number, unit = re.match(r"([\d.]+) (s|ms|µs|ns)", text).groups()
    return float(number) * UNITS[unit]


def choose(reader, name, value):
    Select(one(reader, f"select[name={name}]")).select_by_value(value)


def sort_by(reader, column):
    one(reader, f'th[data-column="{column}"] .sort').click()


def rows_of(made_up):
    return {(row.workload, row.size, row.dtype): [] for row in made_up.rows}


def test_every_cell_of_the_run_is_in_the_matrix(reader, made_up):
    shown = lines(reader)
    assert [tuple(line[:3]) for line in shown] == list(rows_of(made_up))
    by_cell = {(row.workload, row.size, row.dtype, row.backend): row for row in made_up.rows}
    for workload, size, dtype, *cells in shown:
        for backend, text in zip(PLACES, cells, strict=True):
            row = by_cell.get((workload, size, dtype, backend))
            if row is None:
                assert text == DASH
            elif row.measured:
                assert seconds(text) == pytest.approx(row.median_s, rel=5.1e-3)
            else:
                assert text == row.status


def test_the_fastest_is_marked_by_words_and_ties_by_the_resolution(reader, made_up):
    ties = stars = 0
    for workload, size, dtype, *cells in lines(reader):
        own = [row for row in made_up.rows if (row.workload, row.size, row.dtype) == (workload, size, dtype)]
        trusted = {row.backend: row.median_s for row in own if row.measured}
        if sum(row.measured for row in own) < 2:
            continue
        first = {name for name, median in trusted.items() if median <= 1.05 * min(trusted.values())}
        word = "★ fastest" if len(first) == 1 else "tie "
        marked = {name for name, text in zip(PLACES, cells, strict=True) if f"|{word}" in text}
        assert marked == first
        stars, ties = stars + (len(first) == 1), ties + (len(first) > 1)
    assert stars
    assert ties


def test_sorting_by_a_backend_uses_ratio_or_time(reader, made_up):
    best = {}
    for row in made_up.rows:
        if row.measured:
            line = (row.workload, row.size, row.dtype)
            best[line] = min(row.median_s, best.get(line, row.median_s))
    ratios = {
        (row.workload, row.size, row.dtype): row.median_s / best[row.workload, row.size, row.dtype]
        for row in made_up.rows
        if row.backend == "torch" and row.measured
    }
    sort_by(reader, "=torch cpu")
    order = [tuple(line[:3]) for line in lines(reader)]
    assert [ratios[line] for line in order[: len(ratios)]] == sorted(ratios.values())
    assert not set(order[len(ratios) :]) & set(ratios)
    assert one(reader, 'th[data-column="=torch cpu"]').get_attribute("aria-sort") == "ascending"
    choose(reader, "by", "time")
    for sign, state in ((1, "ascending"), (-1, "descending")):
        times = [sign * seconds(line[4]) for line in lines(reader)[: len(ratios)]]
        assert times == sorted(times)
        assert one(reader, 'th[data-column="=torch cpu"]').get_attribute("aria-sort") == state
        sort_by(reader, "=torch cpu")


@pytest.mark.parametrize(("column", "at"), [("workload", 0), ("size", 1), ("dtype", 2)])
def test_sorting_by_a_fact(reader, column, at):
    before = [line[at] for line in lines(reader)]
    sort_by(reader, column)
    found = [line[at] for line in lines(reader)]
    plain = [[value for value in values if "<" not in str(value)] for values in (found, before)]
    assert plain[0] == sorted(plain[1])
    assert found != before
    sort_by(reader, column)
    assert lines(reader)[0][at] == found[-1]
    assert len(all_of(reader, '[aria-sort="descending"]')) == 1


def test_filters_hide_rows_and_columns(reader, made_up):
    every = lines(reader)
    one(reader, "input[name=text]").send_keys("SOFTmax 64")
    assert [tuple(line[:3]) for line in lines(reader)] == [
        line for line in rows_of(made_up) if line[0] == "softmax rows" and line[2] == "float64"
    ]
    assert one(reader, "#count").text.startswith(f"2 of {len(every)} rows")
    one(reader, "input[name=text]").clear()
    one(reader, "input[name=text]").send_keys(" ")
    for name, value, at in (("group", "transpose", 0), ("dtype", "float32", 2)):
        choose(reader, name, value)
        assert {line[at] for line in lines(reader)} == {value}
        choose(reader, name, "")
    for status in STATUSES[1:]:
        choose(reader, "status", status)
        assert lines(reader)
        assert all(status in line for line in lines(reader))
    choose(reader, "status", "")
    one(reader, "input[value='numpy cpu']").click()
    one(reader, "input[value='dask']").click()
    assert texts(reader, "th.place .sort > span") == ["torch", "jax", "cupy", "dask"]
    assert {line[-1] for line in lines(reader)} == {"not-installed", DASH}


def test_cells_can_be_compared_with_one_place(reader, made_up):
    choose(reader, "compare", "numpy cpu")
    times = {(row.workload, row.size, row.dtype, row.backend): row.median_s for row in made_up.rows if row.measured}
    for workload, size, dtype, *cells in lines(reader):
        line = (workload, size, dtype)
        assert cells[0].endswith(f"1.00{TIMES}")
        for place, cell in zip(PLACES, cells, strict=True):
            if (*line, place) in times:
                expected = times[*line, place] / times[*line, "numpy"]
                assert float(cell.split("|")[1].split()[-1].rstrip(TIMES)) == pytest.approx(expected, rel=0.051)


def test_the_detail_opens_and_closes_by_keyboard(reader, made_up):
    cell = one(reader, ".matrix .cell")
    cell.send_keys(Keys.ARROW_RIGHT)
    reader.switch_to.active_element.send_keys(Keys.ARROW_DOWN)
    reached = reader.switch_to.active_element
    reached.send_keys(Keys.ENTER)
    dialog = one(reader, "dialog")
    assert dialog.get_attribute("open")
    row = next(row for row in made_up.rows if (row.workload, row.size, row.backend) == ("matmul", 512, "torch"))
    details = dialog.text.replace(TIMES, "x")
    for text in (
        "torch cpu · n = 512 · float32 · 512x512, 512x512",
        "First call\n",
        "Transfer",
        "Cold",
        "120 calls",
        "97 % confidence",
    ):
        assert text.strip() in details
    assert seconds(one(dialog, ".headline").text) == pytest.approx(row.median_s, rel=5.1e-3)
    assert "9.93x the time of cupy cuda:0" in details
    assert "40 % (compute-bound" in details
    assert "3e-7 (tolerance 1e-5)" in details
    assert "def f(x, y):" in details
    assert details.endswith(
        "python -m xarrayops.bench --backends torch --workloads matmul --dtype float32 --size large"
    )
    assert len(all_of(dialog, ".dot")) == sum(map(len, row.medians_s))
    reader.switch_to.active_element.send_keys(Keys.ESCAPE)
    assert not dialog.get_attribute("open")
    assert reader.switch_to.active_element == reached


def test_break_even_includes_transfer_and_first_call(reader, made_up):
    line = ("softmax rows", 100_000, "float32")
    own = {row.backend: row for row in made_up.rows if (row.workload, row.size, row.dtype) == line}
    numpy, cupy = own["numpy"], own["cupy"]
    calls = 1  # until all that cupy took is less than all that NumPy took
    while cupy.first_call_s + (calls - 1) * cupy.median_s > numpy.first_call_s + (calls - 1) * numpy.median_s:
        calls += 1
    open_cell(reader, *line, "cupy")
    assert f"after {calls:,} calls" in one(reader, "dialog").text
    assert "for n ≥ 100,000" in one(reader, "dialog").text
    one(reader, "dialog .close").click()
    assert not one(reader, "dialog").is_displayed()
    open_cell(reader, *line, "torch")
    assert "from the first call on" in one(reader, "dialog").text
    assert "for n ≥ 1,000" in one(reader, "dialog").text


def open_cell(reader, workload, size, dtype, backend):
    line = [tuple(line[:3]) for line in lines(reader)].index((workload, size, dtype))
    row = all_of(reader, ".matrix tbody tr")[line]
    reader.execute_script("arguments[0].click()", one(row, f"td:nth-child({4 + PLACES.index(backend)}) .cell"))


def test_an_empty_cell_shows_reason_and_fix(reader):
    empty = one(reader, ".matrix .empty")
    reader.execute_script("arguments[0].focus()", empty)
    reason = one(reader, "#tip").text
    assert "because of" in reason
    assert "Fix: do without" in reason
    empty.send_keys(Keys.ENTER)
    assert "Fix: do without" in one(reader, "dialog").text


def test_the_table_of_empty_cells_has_every_reason(reader):
    assert set(texts(reader, "#missing-table td:nth-child(3)")) == set(STATUSES[1:])
    (dask,) = texts(reader, "#missing-table details")
    assert dask.endswith("fft float32 4096, fft float64 4096")


def test_plots_have_a_mark_for_each_measured_cell(reader, made_up):
    measured = [row for row in made_up.rows if row.measured]
    sizes = {}
    for row in measured:
        sizes.setdefault((row.workload, row.dtype), set()).add(row.size)
    over_size = [row for row in measured if len(sizes[row.workload, row.dtype]) > 1]
    assert len(all_of(reader, "#size-plots svg.plot")) == sum(len(known) > 1 for known in sizes.values())
    assert len(all_of(reader, "#size-plots .mark")) == len(over_size)
    lines_drawn = {(row.workload, row.dtype, row.backend) for row in over_size}
    assert len(all_of(reader, "#size-plots .line")) == len(lines_drawn)
    assert len(all_of(reader, "#roof-plots .mark")) == sum(bool(row.operations) for row in measured)
    assert len(all_of(reader, "#roof-plots .roof")) == 3
    assert "NaN" not in reader.execute_script("return document.body.innerHTML")


def test_a_device_has_one_chart_for_all_its_names(reader):
    assert texts(reader, "#roof-plots figcaption") == [
        *("cpu float32", "cuda:0 (A100) float32", "cpu float64", "cuda:0 (A100) float64", "cpu int8"),
    ]
    limits = texts(reader, "#roof-plots .roofs")
    assert [text.split()[0] for text in limits] == ["Limits:", "Limits:", "Limits:", "No", "No"]
    assert "budget ended" in limits[3]
    assert "floating-point dtypes only" in limits[4]
    marks = all_of(reader, "#roof-plots figure:first-child .mark")
    assert {mark.get_attribute("aria-label").split(":")[0].split()[0] for mark in marks} == {"numpy", "torch", "jax"}


@pytest.mark.parametrize("compute", [1e9, 4e11, 1e14])
def test_a_roofline_stays_in_its_chart(reader, made_up, tmp_path, compute):
    """For memory-bound work, the corner of the roofline may be far outside the chart."""
    rows = [row for row in made_up.rows if row.workload == "fft" and row.dtype == "float32" and row.measured]
    roofs = [{**made_up.environment["roofs"][0], "compute": compute}]
    own = Results(rows, {**made_up.environment, "roofs": roofs})
    (tmp_path / "page.html").write_text(page.html(own), encoding="utf-8")
    reader.get((tmp_path / "page.html").as_uri())
    paths = [path.get_attribute("d") for path in all_of(reader, "#roof-plots .roof")]
    assert paths
    for path in paths:
        points = [tuple(map(float, point.split())) for point in re.findall(r"[ML]([-\d. ]+)", path)]
        assert all(62 <= x <= 430.1 and 25.9 <= y <= 238.1 for x, y in points), path


def test_marks_agree_with_their_axes(reader, made_up):
    """The value of a mark follows from two ticks of each axis."""
    plot = one(reader, "#roof-plots svg.plot")
    found = reader.execute_script(
        "const at = (e, n) => Number(e.getAttribute(n));"
        "const ticks = [...arguments[0].querySelectorAll('text:not(.unit):not(.end)')];"
        "const marks = [...arguments[0].querySelectorAll('.mark')];"
        "return [ticks.map((t) => [t.getAttribute('text-anchor'), t.textContent, at(t, 'x'), at(t, 'y')]),"
        "marks.map((m) => m.getAttribute('transform').match(/[\\d.]+/g).map(Number))]",
        plot,
    )
    scale = {"": 1, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}

    def value(text):
        number, *prefix = text.split()
        return float(number) * scale[prefix[0] if prefix else ""]

    def reading(anchor, axis, shift):
        (a, low), (b, high), *_ = [(value(tick[1]), tick[axis] - shift) for tick in found[0] if tick[0] == anchor]
        return lambda at: a * (b / a) ** ((at - low) / (high - low))

    x, y = reading("middle", 2, 0), reading("end", 3, 4)
    rows = [
        row
        for row in made_up.rows
        if row.measured and row.operations and (row.device_kind, row.dtype) == ("cpu", "float32")
    ]
    assert len(rows) == len(found[1])
    for row, (left, top) in zip(rows, found[1], strict=True):
        assert x(left) == pytest.approx(row.operations / row.nbytes, rel=0.01)
        assert y(top) == pytest.approx(row.operations / row.median_s, rel=0.01)


def test_a_mark_has_a_tooltip_and_opens_its_cell(reader):
    mark = one(reader, "#size-plots .mark")
    reader.execute_script("arguments[0].focus()", mark)
    assert one(reader, "#tip").text.startswith("numpy cpu: 9.52 µs")
    mark.send_keys(Keys.ENTER)
    assert one(reader, "dialog").get_attribute("open")


def test_hostile_texts_are_shown_but_not_executed(reader):
    assert reader.execute_script("return window.hacked") is None
    assert all_of(reader, "img") == []
    assert any("onerror=window.hacked=1" in text for text in texts(reader, ".matrix tbody th"))


def test_the_headline_warns(reader):
    text = " ".join(texts(reader, ".warning"))
    assert "load 1000.0 on" in text
    assert "Cells whose roofline is not trusted: 1" in text
    assert "55 of 66" in one(reader, "#tiles").text
    assert "5 %" in one(reader, "#tiles").text
    assert "below 5.0% are ties" in one(reader, "#resolution").text


def test_the_headline_names_the_most_frequent_winner_without_ties(reader, made_up, tmp_path):
    marked = {place: [0, 0] for place in PLACES}
    tied = 0
    for line in lines(reader):
        for place, text in zip(PLACES, line[3:], strict=True):
            marked[place][0] += "|★ fastest" in text
            marked[place][1] += "|tie" in text
        tied += any("|tie" in text for text in line[3:])
    first, *others = sorted(marked, key=lambda place: -marked[place][0])
    assert marked[first][0] < sum(map(sum, marked.values()))
    winners = tile(reader, "Fastest most often")
    assert winners.startswith(f"{first} ")
    assert f"{marked[first][0]} of {len(lines(reader))} rows; " in winners
    assert all((f"; {place} " in winners) is (marked[place][0] > 0) for place in others)
    assert winners.endswith(f"; {tied} ties")
    tallies = [text.replace("\N{NO-BREAK SPACE}", " ").removeprefix("★ ") for text in texts(reader, ".tally")]
    for place, text in zip(PLACES, tallies, strict=True):
        won, ties = marked[place]
        assert text.startswith(f"{won} of ")
        assert text.endswith(f", {ties} tie{'s' * (ties > 1)}") or not ties
    same = Results([row for row in made_up.rows if row.workload == "matmul"], {"resolution": 1e6})
    (tmp_path / "ties.html").write_text(page.html(same), encoding="utf-8")
    reader.get((tmp_path / "ties.html").as_uri())
    assert tile(reader, "Fastest most often") == "no backend none is clearly the fastest in any of 6 rows; 6 ties"


def tile(reader, name):
    names, values = texts(reader, "#tiles dt"), [dd.text for dd in all_of(reader, "#tiles dd")]
    return " ".join(dict(zip(names, values, strict=True))[name].split())


def test_an_earlier_run_is_compared_cell_by_cell(reader, folder, made_up):
    assert not one(reader, "#comparison").is_displayed()
    reader.get((folder / "compared.html").as_uri())
    before = texts(reader, ".matrix .before")
    assert len(before) == sum(row.measured for row in made_up.rows)
    softmax = sum(row.workload == "softmax rows" for row in made_up.rows if row.measured)
    assert before.count(f"▼ faster: 0.50{TIMES} of earlier") == softmax
    assert {text[1:] for text in before if "faster" not in text} == {f" 1.00{TIMES} of earlier"}
    assert len(all_of(reader, "#comparison-table tbody tr")) >= softmax
    assert texts(reader, "#differences-table tbody th") == ["settings.KEPT", "settings.OMP_NUM_THREADS"]
    choose(reader, "compare", "earlier")
    for workload, _, _, *cells in lines(reader):
        ratio = {"softmax rows": "0.50"}.get(workload, "1.00")
        assert all(cell.endswith(f"{ratio}{TIMES}") for cell in cells if "|" in cell)


LINES = """
const content = (td) => [...td.querySelectorAll('.time, .ratio')].map((s) => s.textContent).join('|') || td.textContent;
const line = ([workload, n, dtype, ...cells]) =>
  [workload.firstChild.textContent, Number(n.textContent.replace(/,/g, '')), dtype.textContent, ...cells.map(content)];
return [...document.querySelectorAll('.matrix tbody tr')].map((tr) => line([...tr.cells]));
"""
