"""The sample backend, a separate distribution, which the contract suite finds by its entry point."""

import pytest

import xarrayops as xo


def test_it_is_found_by_its_entry_point():
    found = {status.name: status for status in xo.backends()}
    assert "samplearray" in found, "make test installs it: pip install -e tests/sample_backend"
    assert found["samplearray"].available
    x = xo.ones((2, 3), backend="samplearray")
    assert type(x).__module__ == "samplearray"
    assert xo.backend(x).versions == {"samplearray": "1.0"}


def test_explain_shows_its_candidates_and_its_unsupported_function():
    x = xo.ones(3, backend="samplearray")
    assert xo.explain("matmul", x, x).chosen == "samplearray:vectors"
    assert xo.explain("matmul", xo.reshape(x, (1, 3)), x).chosen == "samplearray:matmul"
    assert "irfft" in str(xo.explain("fft.hfft", x))
    with pytest.raises(xo.Unsupported, match="irfft"):
        xo.fft.hfft(x)


def test_its_hook_wrap_wraps_functions():
    x = xo.ones((2, 3), backend="samplearray")
    with pytest.raises(ValueError, match="reshape") as error:
        xo.reshape(x, (5,))
    assert error.value.__notes__ == ["raised by samplearray's reshape"]
    assert "completed by the backend" in str(xo.explain("reshape", x, (5,)))
