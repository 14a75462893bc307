"""The generator reads the tables of verbs without importing the package."""

import ast
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tools"))
import verb_tables  # noqa: E402

sys.path.remove(str(ROOT / "tools"))

FAMILY = """
from xarrayops._ops.soft import explain
from xarrayops._ops.soft.verb import Result, softmax
def hard(x): ...
VERBS = (
    Verb("softmax", softmax, hook="softmax", explain=explain.explain_softmax, results=(Result,)),
    Verb("soft.hard", hard, creates=True),
    Verb("other", explain.other),
)
"""


def rows(text):
    tree = ast.parse(text)
    origins = verb_tables.origins_of(tree, "xarrayops._ops.soft")
    table = tree.body[-1]
    assert isinstance(table, ast.Assign)
    return [verb_tables.read_row(call, origins) for call in table.value.elts]


def test_rows():
    softmax, hard, other = rows(FAMILY)
    verb = "xarrayops._ops.soft.verb"
    assert softmax == ("softmax", "softmax", False, {"softmax": verb, "Result": verb})
    assert hard == ("soft.hard", None, True, {"hard": "xarrayops._ops.soft"})
    assert other == ("other", None, False, {"other": "xarrayops._ops.soft.explain"})


def test_an_unknown_function_is_an_error():
    with pytest.raises(SystemExit, match="VERBS has softmin, but"):
        rows('VERBS = (Verb("softmin", softmin),)')


def test_the_families_are_found():
    found = {family.module: {row.name for row in family.rows} for family in verb_tables.read_families()}
    assert {"relayout", "contiguous"} <= found["xarrayops._ops.layout"]
    assert found["xarrayops._ops.indexing"] == {"at"}


def test_the_imports_of_a_public_module_are_replaced():
    source = '"""Doc."""\n\nimport h\n\nfrom xarrayops.a import b as b\n\n__all__ = ["b"]\nx = 1\n'
    written = verb_tables.with_imports(source, {"g": "f", "c": "d"})
    assert written.splitlines() == [
        *('"""Doc."""', "", "import h", "", "from f import g", "from d import c", ""),
        *("__all__ = ['c', 'g']", "x = 1"),
    ]


def test_imports_of_whole_modules_and_of_private_names_are_kept():
    kept = ["from xarrayops.a import *", "from xarrayops.c import D as _D"]
    source = "\n".join([kept[0], "from xarrayops.b import b as b", kept[1], "x = 1", ""])
    assert verb_tables.with_imports(source, {"g": "f"}).splitlines() == [*kept, "from f import g as g", "x = 1"]
