"""Kernels compile without a cache where no cache folder can be written."""

import warnings
from types import SimpleNamespace

import numba
import pytest

from placement_lab import _compiled


def double(x):
    return 2 * x


@pytest.fixture
def nowhere_to_write(monkeypatch):
    real = numba.njit

    def njit(**options):
        if options.get("cache"):
            message = "cannot cache function 'double': no locator available for file"
            raise RuntimeError(message)
        return real(**options)

    monkeypatch.setattr(_compiled, "numba", SimpleNamespace(njit=njit))
    monkeypatch.setattr(_compiled, "_warned", [])


@pytest.mark.usefixtures("nowhere_to_write")
def test_without_a_cache_folder_there_is_one_warning_and_the_same_result():
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        twice = [_compiled.njit(cache=True)(double) for _ in range(2)]
        results = [kernel(4) for kernel in twice]
    assert [one.category for one in seen] == [RuntimeWarning]
    assert "set NUMBA_CACHE_DIR to a writable folder" in str(seen[0].message)
    assert results == [8, 8]


def test_other_errors_of_the_compiler_are_not_hidden(monkeypatch):
    def njit(**_options):
        raise RuntimeError("something else")

    monkeypatch.setattr(_compiled, "numba", SimpleNamespace(njit=njit))
    with pytest.raises(RuntimeError, match="something else"):
        _compiled.njit(cache=True)(double)
