"""The report of several machines: a column for each library on each machine, and the details of their cells."""

from __future__ import annotations

from dataclasses import replace

import pytest

from xarrayops.bench import __main__ as command_line
from xarrayops.bench.results import Results

pytest.importorskip("selenium", reason="the browser tests need selenium")

from selenium.webdriver.common.by import By

HEADS = (
    "return [...document.querySelectorAll('table.matrix thead th[data-column^=\"=\"]')].map((e) => e.dataset.column)"
)


@pytest.fixture(scope="module")
def joined(made_up, tmp_path_factory):
    """The made-up run on two machines, the second of which has other versions and no CuPy."""
    folder = tmp_path_factory.mktemp("machines")
    for host, versions in (("alpha", "2.3.1"), ("beta", "2.4.0")):
        rows = [replace(row, host=host, machine=f"CPU of {host}") for row in made_up.rows]
        kept = [row for row in rows if host == "alpha" or row.backend != "cupy"]
        about = {row.workload: {"timed": "f(x)"} for row in rows}
        environment = {**made_up.environment, "versions": {"numpy": {"numpy": versions}}, "workloads": about}
        (folder / host).mkdir()
        Results(kept, environment).write(folder / host)
    command_line.main(
        ["--merge", str(folder / "alpha"), str(folder / "beta"), "--out", str(folder / "out"), "--cost", "beta=2"]
    )
    return folder / "out"


def test_the_page_of_two_machines(chromium, appear, joined):
    appear(chromium, "light", 1600, 900)
    chromium.get((joined / "report.html").as_uri())
    rows = Results.read(joined).rows
    columns = chromium.execute_script(HEADS)
    assert columns == [f"={place}" for place in dict.fromkeys(row.place for row in rows if row.device)]
    assert chromium.find_element(By.ID, "machine").text == "alpha, beta"
    tables = [table.text for table in chromium.find_elements(By.CSS_SELECTOR, "#regret-tables table")]
    assert len(tables) == 3
    assert "alpha" not in tables[1] + tables[2]
    assert "beta: numpy cpu" in tables[1]
    facts = chromium.find_element(By.ID, "environment-tables").text
    assert "versions.numpy.numpy" in facts
    assert "2.3.1" in facts
    assert "2.4.0" in facts
    cell = chromium.find_elements(By.CSS_SELECTOR, "table.matrix tbody tr:first-child td button")[-1]
    cell.click()
    assert "beta:" in chromium.find_element(By.CSS_SELECTOR, "#detail .lead").text
    assert chromium.get_log("browser") == []
