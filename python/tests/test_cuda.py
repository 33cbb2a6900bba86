"""The CUDA backend, a package of its own, which is loaded when a GPU is asked for."""

import os
import subprocess
import sys

COUNT = """
import histo
try:
    print(histo.histogram([1.0, 2.0], bins=2, range=(0, 4), device="cuda")[0].tolist())
except Exception as e:
    print(f"{type(e).__name__}: {e}")
print(histo.histogram([1.0, 2.0], bins=2, range=(0, 4))[0].tolist())
"""


def count_with(directory, code=COUNT):
    """What a process prints that finds the package histo_cuda of this directory."""
    path = os.pathsep.join([str(directory), *filter(None, sys.path)])
    done = subprocess.run([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": path}, text=True,
                          capture_output=True, check=True)
    first, second = done.stdout.splitlines()
    assert second == "[1, 1]"  # the CPU counts in any case
    return first


def package(directory, text):
    (directory / "histo_cuda").mkdir()
    (directory / "histo_cuda" / "__init__.py").write_text(text)
    return directory


def test_a_file_that_is_missing(tmp_path):
    said = count_with(package(tmp_path, "path = '/nowhere/libhisto-cuda.so'"))
    assert said.startswith("NotImplementedError: the CUDA backend cannot be loaded: /nowhere/libhisto-cuda.so: ")


def test_a_library_that_is_no_backend(tmp_path):
    assert count_with(package(tmp_path, "path = 'libm.so.6'")) == (
        "NotImplementedError: 'libm.so.6' is not a CUDA backend of histo")


def test_exceptions_of_the_package_are_told(tmp_path):
    assert count_with(package(tmp_path, "raise ValueError('broken')")) == "ValueError: broken"


def test_a_package_without_a_path(tmp_path):
    assert count_with(package(tmp_path, "")).startswith("AttributeError: ")


def test_it_is_not_imported_before_it_is_needed(tmp_path):
    code = "import histo, sys; print(histo.histogram([1.0], 2)[0].sum(), 'histo_cuda' in sys.modules)\nprint([1, 1])"
    assert count_with(package(tmp_path, "raise ValueError('broken')"), code) == "1 False"


def test_a_gpu_or_the_reason_why_there_is_none(tmp_path):
    said = count_with(tmp_path)
    if said == "[1, 1]":
        return
    assert said.startswith("NotImplementedError: cuda cannot be used: ")
    try:
        import histo_cuda
    except ModuleNotFoundError:
        assert said.endswith("the CUDA backend (libhisto-cuda.so) is not installed")
    else:
        assert os.path.exists(histo_cuda.path)
        assert "is not installed" not in said or said.endswith("no NVIDIA driver is installed")
