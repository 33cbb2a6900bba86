"""More data than memory: Dask.

Blocks are counted where they are, and the counts are added up in a tree. The result is exact, and so the same for any
blocks and workers.
"""

import dask.array as da
import matplotlib.pyplot as plt

import histo.dask
from histo import Histogram, Regular

x = da.random.default_rng(1).normal(size=20_000_000, chunks=1_000_000)
h = histo.dask.fill(Histogram(Regular(200, -6, 6, name="x")), x).compute()
print(h)

figure, axes = plt.subplots(figsize=(7, 3))
h.plot(axes)
axes.set_yscale("log")
