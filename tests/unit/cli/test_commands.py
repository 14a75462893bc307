"""The command ``xarrayops``: the command line that it runs, and its help."""

from __future__ import annotations

import json
import sys
import tomllib
from importlib import import_module
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from xarrayops._cli import commands, doctor

PYPROJECT = Path(__file__).parents[3] / "pyproject.toml"


@pytest.fixture
def called(monkeypatch):
    """The arguments of each call of a command line; each returns another status."""
    calls = {}
    for status, (name, (module, _)) in enumerate(commands.COMMANDS.items()):

        def run(arguments, name=name, status=status):
            calls[name] = arguments
            return status

        monkeypatch.setattr(import_module(module), "main", run)
    return calls


@pytest.mark.parametrize(
    ("arguments", "command", "rest", "status"),
    [
        ([], "doctor", [], 0),
        (["--json"], "doctor", ["--json"], 0),
        (["doctor", "--help"], "doctor", ["--help"], 0),
        (["bench", "--all", "--budget", "5m"], "bench", ["--all", "--budget", "5m"], 1),
        (["bench", "-h"], "bench", ["-h"], 1),
        (["port", "rewrite", "f.py"], "port", ["rewrite", "f.py"], 2),
    ],
)
def test_a_command_runs_its_module(called, monkeypatch, arguments, command, rest, status):
    assert commands.main(arguments) == status
    assert called == {command: rest}
    called.clear()
    monkeypatch.setattr(sys, "argv", ["xarrayops", *arguments])
    assert commands.main() == status
    assert called == {command: rest}


@pytest.mark.parametrize("flag", ["-h", "--help"])
def test_help_lists_the_commands(called, capsys, flag):
    with pytest.raises(SystemExit) as ended:
        commands.main([flag])
    assert not ended.value.code
    shown = capsys.readouterr().out
    assert [line.split()[0] for line in shown.splitlines() if line.startswith("    ") and line[4] != " "] == [
        *commands.COMMANDS
    ]
    assert not called


def test_an_unknown_command_is_an_error(called, capsys):
    with pytest.raises(SystemExit) as ended:
        commands.main(["benhc"])
    assert ended.value.code == 2
    shown = capsys.readouterr().err
    assert all(name in shown for name in ("'benhc'", *commands.COMMANDS))
    assert not called


@pytest.mark.parametrize(
    ("command", "option"),
    [("doctor", "--json"), ("bench", "--budget"), ("port", "rewrite")],
)
def test_each_command_has_its_own_help(capsys, command, option):
    with pytest.raises(SystemExit) as ended:
        commands.main([command, "--help"])
    assert not ended.value.code
    assert option in capsys.readouterr().out


def test_an_option_of_the_doctor_needs_no_command(monkeypatch, capsys):
    monkeypatch.setattr(doctor, "examine_all", lambda names: [])
    assert commands.main(["--json"]) == 0
    assert json.loads(capsys.readouterr().out)["backends"] == []


def test_the_console_script_is_this_command():
    scripts = tomllib.loads(PYPROJECT.read_text())["project"]["scripts"]
    assert {name: EntryPoint(name, value, "console_scripts").load() for name, value in scripts.items()} == {
        "xarrayops": commands.main
    }
