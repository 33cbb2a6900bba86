"""The CUDA backend of histo. The package histo loads it when it needs a GPU."""

import os as _os

path = _os.path.join(_os.path.dirname(_os.path.abspath(__file__)), "libhisto-cuda.so")
