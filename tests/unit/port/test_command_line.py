"""Files and calls that cannot be used get a clear answer from every command, and no traceback."""

import pytest

from xarrayops.port import __main__ as command_line

START = "import numpy as np\n"
FILES = {
    "syntax.py": (b"def f(x:\n", "line 1: '(' was never closed"),
    "encoding.py": (b"\n\n# x\xe9\n", "byte 0xe9 is not valid in utf-8"),
    "utf16.py": ("import numpy".encode("utf-16"), "is encoded in UTF-16"),
    "zero.py": (b"x = \0\n", "line 1: a zero byte"),
    "python2.py": (b"print 'x'\n", "Python 2"),
    "deep.py": (b"x = " + b"-" * 400 + b"1\n", "nested more than"),
    "large.py": (b"#" * 5_000_000, "5.0 MB"),
    "missing.py": (None, "cannot be read"),
}


@pytest.mark.parametrize("command", ["check", "rewrite", "verify"])
@pytest.mark.parametrize("name", FILES)
def test_files(command, name, tmp_path, capsys):
    content, message = FILES[name]
    if content is not None:
        (tmp_path / name).write_bytes(content)
    options = ["--call", "f(1)"] if command == "verify" else []
    assert command_line.main([command, str(tmp_path / name), *options]) == 2
    shown = capsys.readouterr()
    error = without_progress(shown.err, command)
    assert error.startswith("error: ")
    assert message in error
    assert not shown.out


def without_progress(shown, command):
    """What follows the first line of verify, which is printed before the files are read; a wrong call has none."""
    first, _, rest = shown.partition("\n")
    return rest if command == "verify" and first == "the reference on NumPy ..." else shown


CALLS = {
    "f(": "'f(' is not Python",
    "f": "is not a call of a function",
    "f(1": "is not Python",
    "g(1)": "'g'",
    "f(1)": "program.py, line 2: ",
    "leave()": "program.py, line 5: ",
    "f(1 / 0)": "ZeroDivisionError",
}


@pytest.mark.parametrize("command", ["check", "verify"])
@pytest.mark.parametrize("call", CALLS)
def test_calls(command, call, tmp_path, capsys):
    program = tmp_path / "program.py"
    program.write_text(f"{START}def f(x): raise ValueError('no')\n\n\ndef leave(): raise SystemExit(3)\n")
    assert command_line.main([command, str(program), "--call", call]) == 2
    error = without_progress(capsys.readouterr().err, command)
    assert error.startswith("error: ")
    assert CALLS[call] in error
    assert "Traceback" not in error


@pytest.mark.parametrize("options", [["rewrite", "-o"], ["check", "--page"]])
def test_outputs_that_cannot_be_written(options, tmp_path, capsys):
    program = tmp_path / "program.py"
    program.write_text(START)
    command, option = options
    for out in (tmp_path / "missing" / "out", tmp_path):
        assert command_line.main([command, str(program), option, str(out)]) == 2
        assert f"error: {out} cannot be written: " in capsys.readouterr().err


def test_a_machine_without_a_call(tmp_path, capsys):
    program = tmp_path / "program.py"
    program.write_text(START)
    assert command_line.main(["check", str(program), "--machine", str(tmp_path)]) == 2
    assert "--machine is for the forecast of a run" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["check", "verify"])
def test_an_interruption(command, tmp_path, capsys):
    program = tmp_path / "program.py"
    program.write_text(f"{START}def f():\n    raise KeyboardInterrupt\n")
    assert command_line.main([command, str(program), "--call", "f()"]) == 130
    assert without_progress(capsys.readouterr().err, command) == "interrupted\n"
