"""Shared libraries: the cache, what its key depends on, and processes that build the same library at once."""

import ctypes
import os
import re
import subprocess
import sys
from types import SimpleNamespace

import pytest

from xarrayops._system import compiler
from xarrayops.errors import BuildError

if compiler.find(compiler.CPP) is None:
    pytest.skip("no C++ compiler is installed", allow_module_level=True)

SOURCES = {"answer.cc": 'extern "C" int answer() { return 42; }\n'}


def build(sources=SOURCES, flags=(), includes=(), key="", capabilities=()):
    return compiler.shared_library(sources, flags=flags, includes=includes, key=key, capabilities=capabilities)


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
        assert compiler.find(compiler.CPP) == (str(script), "--some-flag")
        assert compiler.version((str(script),)) == "mine 1.0\n"
        without_compilers(monkeypatch, tmp_path)
        assert all(compiler.find(each) is None for each in compiler.LANGUAGES)
        for name, message in (
            ("a.cc", r"no C\+\+ compiler was found: neither \$CXX nor c\+\+, g\+\+, clang\+\+. .*or set CXX"),
            (
                "a.cu",
                r"no CUDA compiler was found: neither \$NVCC nor nvcc. .*install '.*\[native-cuda\]', or set NVCC",
            ),
            ("a.hip", r"no HIP compiler was found: neither \$HIPCC nor hipcc. Instead: install one, or set HIPCC"),
        ):
            with pytest.raises(BuildError, match=message):
                build({name: ""})
    finally:
        compiler.find.cache_clear()


def without_compilers(patch, folder):
    """Let no compiler be found."""
    patch.setenv("PATH", str(folder / "empty"))
    for language in compiler.LANGUAGES:
        for name in (language.variable, *language.homes):
            patch.delenv(name, raising=False)
    languages = [each._replace(folder=str(folder / "toolkit")) for each in compiler.LANGUAGES]
    for name, value in zip(("HIP", "CUDA", "CPP"), languages, strict=True):
        patch.setattr(compiler, name, value)
    patch.setattr(compiler, "LANGUAGES", languages)
    patch.setattr(compiler, "find_spec", lambda name: None)
    compiler.find.cache_clear()


def program(path, text="#!/bin/sh\n"):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return str(path)


def test_compilers_of_toolkits_and_python_packages(monkeypatch, tmp_path):
    without_compilers(monkeypatch, tmp_path)
    try:
        packaged = [program(tmp_path / f"nvidia/{each}/bin/nvcc") for each in ("cu12", "cu13")]
        spec = SimpleNamespace(submodule_search_locations=[str(tmp_path / "nvidia")])
        monkeypatch.setattr(compiler, "find_spec", lambda name: spec if name == "nvidia" else None)
        assert compiler.find(compiler.CUDA) == (packaged[1],)
        for language in (compiler.CUDA, compiler.HIP):
            for folder in (tmp_path / "toolkit", tmp_path / "home"):
                monkeypatch.setenv(language.homes[-1], str(tmp_path / "home"))
                found = program(folder / "bin" / language.commands[0])
                compiler.find.cache_clear()
                assert compiler.find(language) == (found,)
    finally:
        compiler.find.cache_clear()


PRINTS_ITS_ARGUMENTS = """#!/bin/sh
if [ "$1" = --version ]; then echo "release VERSION, made up"; exit; fi
for last; do :; done
echo "$@" > "$last"
"""


@pytest.fixture
def flags_of(monkeypatch, tmp_path):
    """A function that builds a source, and returns the flags for architectures and the name of the library."""

    def flags_of(source="a.cu", version="13.0", **options):
        text = PRINTS_ITS_ARGUMENTS.replace("VERSION", version)
        for variable in ("NVCC", "HIPCC"):
            monkeypatch.setenv(variable, program(tmp_path / f"compiler-{version}", text))
        compiler.find.cache_clear()
        library = build({source: ""}, **options)
        return " ".join(re.findall(r"-gencode \S+|--?\S*arch=\S+", library.read_text())), library.name

    yield flags_of
    compiler.find.cache_clear()


EVERY = "-gencode arch=compute_80,code=sm_80 -gencode arch=compute_90a,code=sm_90a"


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"capabilities": ["9.0"]}, "-gencode arch=compute_90a,code=sm_90a"),
        ({"capabilities": ["8.9", "8.0"]}, "-gencode arch=compute_80,code=sm_80 -gencode arch=compute_89,code=sm_89"),
        ({}, f"{EVERY} -gencode arch=compute_100,code=sm_100 -gencode arch=compute_80,code=compute_80"),
        ({"version": "12.4"}, f"{EVERY} -gencode arch=compute_80,code=compute_80"),
        ({"capabilities": ["9.0"], "flags": ["-arch=sm_86"]}, "-arch=sm_86"),
        ({"flags": ["-gencode", "arch=compute_75,code=sm_75"]}, "-gencode arch=compute_75,code=sm_75"),
        ({"capabilities": ["9.0"], "flags": ["-arch=native"]}, "-arch=native"),
        ({"source": "a.hip", "capabilities": ["gfx942:sramecc+:xnack-"]}, "--offload-arch=gfx942:sramecc+:xnack-"),
        ({"source": "a.hip"}, "--offload-arch=gfx90a --offload-arch=gfx942"),
        ({"source": "a.hip", "flags": ["--offload-arch=gfx1100"]}, "--offload-arch=gfx1100"),
    ],
    ids=str,
)
def test_device_code_is_built_for_the_devices(flags_of, given, expected):
    assert flags_of(**given)[0] == expected


@pytest.mark.parametrize("flags", [[], ["-arch=native"]])
def test_another_library_is_built_for_another_device(flags_of, flags):
    names = [flags_of(flags=flags, capabilities=each)[1] for each in (["8.0"], ["9.0"], ["8.0", "9.0"], ["9.0"])]
    assert len(set(names)) == 3
    assert names[1] == names[3]


@pytest.mark.skipif(compiler.find(compiler.CUDA) is None, reason="the CUDA toolkit is not installed")
def test_cuda_sources(cache):
    source = '__global__ void nothing() {}\nextern "C" int answer() { if (false) nothing<<<1, 1>>>(); return 42; }\n'
    assert ctypes.CDLL(str(build({"a.cu": source}))).answer() == 42
