"""Columns of a table: categories, weights and nulls.

A `Category` axis grows as it meets new values. Polars and Arrow columns are read where they are; their nulls are
masked, and the tally says how many there were.
"""

import matplotlib.pyplot as plt
import numpy as np
import polars as pl

from histo import Category, Histogram, Regular

random = np.random.default_rng(8)
table = pl.DataFrame({
    "device": random.choice(["north", "south", "west"], 100_000, p=[0.5, 0.3, 0.2]),
    "value": random.normal(20, 4, 100_000),
}).with_columns(
    value=pl.when(pl.Series(random.random(100_000) < 0.98)).then(pl.col("value") + 3 * (pl.col("device") == "west")),
)

h = Histogram(Regular(60, 0, 40, name="value"), Category([], growth=True, name="device"))
h.fill(table["value"], table["device"].to_list())
print(h)

figure, axes = plt.subplots(figsize=(7, 3))
for device in h.axes["device"]:
    h[:, device].plot(axes, label=device)
axes.legend()
