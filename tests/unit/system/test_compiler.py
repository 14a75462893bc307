"""Shared libraries: the cache, what its key depends on, and processes that build the same library at once."""

import ctypes
import os
import subprocess
import sys

import pytest

from xarrayops._system import compiler
from xarrayops.errors import BuildError

if compiler.find(cuda=False) is None:
    pytest.skip("no C++ compiler is installed", allow_module_level=True)

SOURCES = {"answer.cc": 'extern "C" int answer() { return 42; }\n'}


def build(sources=SOURCES, flags=(), includes=(), key=""):
    return compiler.shared_library(sources, flags=flags, includes=includes, key=key)


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XARRAYOPS_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "native"


def test_a_library_is_built_once(cache):
    library = build()
    assert ctypes.CDLL(str(library)).answer() == 42
    assert [library] == list(cache.iterdir())
    built = library.stat().st_mtime_ns
    assert build() == library
    assert library.stat().st_mtime_ns == built


@pytest.mark.parametrize(
    "changed",
    [
        {"sources": {"answer.cc": SOURCES["answer.cc"] + "// changed"}},
        {"sources": {**SOURCES, "unused.h": "// a header is not compiled, but part of the key"}},
        {"sources": {"renamed.cc": SOURCES["answer.cc"]}},
        {"flags": ["-O1"]},
        {"flags": ["-march=native"]},
        {"key": "another version of the headers"},
    ],
    ids=str,
)
def test_another_library_is_built_for(cache, changed):
    assert build() != build(**changed)
    assert len(list(cache.iterdir())) == 2


def test_another_library_is_built_for_another_compiler(cache, monkeypatch):
    first = build()
    monkeypatch.setattr(compiler, "version", lambda command: "another version")
    assert build() != first


def test_several_sources_and_headers(cache):
    sources = {
        "a.cc": '#include "a.h"\nextern "C" int answer() { return half() * 2; }\n',
        "a.h": "int half();\n",
        "b.cc": "int half() { return 21; }\n",
    }
    assert ctypes.CDLL(str(build(sources))).answer() == 42


def test_an_error_has_the_command_and_leaves_nothing(cache):
    with pytest.raises(BuildError, match=r"(?s)exit status 1\n\$ .* wrong\.cc .*wrong\.cc:1.*no_such_type"):
        build({"wrong.cc": "no_such_type x;"})
    assert list(cache.iterdir()) == []


def test_processes_build_at_the_same_time(cache):
    program = (
        "import ctypes\nfrom xarrayops._system.compiler import shared_library\n"
        f"library = shared_library({SOURCES!r}, flags=[], includes=[], key='')\n"
        "assert ctypes.CDLL(str(library)).answer() == 42\n"
    )
    running = [subprocess.Popen([sys.executable, "-c", program], env=os.environ) for _ in range(4)]
    assert [process.wait() for process in running] == [0] * 4
    assert len(list(cache.iterdir())) == 1


def test_a_folder_that_cannot_be_written(cache, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XARRAYOPS_CACHE", str(tmp_path / "file"))
    library = build()
    assert ctypes.CDLL(str(library)).answer() == 42
    assert tmp_path not in library.parents


def test_the_compiler_is_the_one_of_the_environment(monkeypatch, tmp_path):
    script = tmp_path / "my-compiler"
    script.write_text("#!/bin/sh\necho mine 1.0\n")
    script.chmod(0o755)
    monkeypatch.setenv("CXX", f"{script} --some-flag")
    compiler.find.cache_clear()
    try:
        assert compiler.find(cuda=False) == (str(script), "--some-flag")
        assert compiler.version((str(script),)) == "mine 1.0\n"
        monkeypatch.setenv("PATH", str(tmp_path))
        monkeypatch.setenv("CXX", "missing-compiler")
        for name in ("NVCC", "CUDA_HOME", "CUDA_PATH"):
            monkeypatch.delenv(name, raising=False)
        compiler.find.cache_clear()
        assert compiler.find(cuda=False) is None
        assert compiler.find(cuda=True) is None
        with pytest.raises(BuildError, match=r"no C\+\+ compiler was found: neither \$CXX"):
            build()
        with pytest.raises(BuildError, match="no CUDA compiler was found"):
            build({"a.cu": ""})
    finally:
        compiler.find.cache_clear()


@pytest.mark.skipif(compiler.find(cuda=True) is None, reason="the CUDA toolkit is not installed")
def test_cuda_sources(cache):
    source = '__global__ void nothing() {}\nextern "C" int answer() { if (false) nothing<<<1, 1>>>(); return 42; }\n'
    assert ctypes.CDLL(str(build({"a.cu": source}))).answer() == 42
