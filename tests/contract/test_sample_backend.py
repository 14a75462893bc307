"""The sample backend, a distribution of its own: its entry point is what brings it into the contract suite."""

import pytest

import xarrayops as xo


def test_is_found_through_its_entry_point():
    found = {status.name: status for status in xo.backends()}
    assert "samplearray" in found, "make test installs it: pip install -e tests/sample_backend"
    assert found["samplearray"].available
    x = xo.ones((2, 3), backend="samplearray")
    assert type(x).__module__ == "samplearray"
    assert xo.backend(x).versions == {"samplearray": "1.0"}


def test_its_gap_and_its_candidates_are_explained():
    x = xo.ones(3, backend="samplearray")
    assert xo.explain("matmul", x, x).chosen == "samplearray:vectors"
    assert xo.explain("matmul", xo.reshape(x, (1, 3)), x).chosen == "samplearray:matmul"
    assert "irfft" in str(xo.explain("fft.hfft", x))
    with pytest.raises(xo.Unsupported, match="irfft"):
        xo.fft.hfft(x)


def test_its_hook_wrap_serves_every_function_with_operands():
    x = xo.ones((2, 3), backend="samplearray")
    with pytest.raises(ValueError, match="reshape") as error:
        xo.reshape(x, (5,))
    assert error.value.__notes__ == ["raised by samplearray's reshape"]
    assert "completed by the backend" in str(xo.explain("reshape", x, (5,)))
