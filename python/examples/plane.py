"""Two dimensions, and what one of them tells.

A joint histogram keeps the flow of every axis, so `project` gives exactly what a histogram of one column alone would.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import LogNorm

from histo import Histogram, Log, Regular

random = np.random.default_rng(3)
energy = random.pareto(1.5, 1_000_000) + 1
angle = random.normal(0, 1 / np.sqrt(energy))

h = Histogram(Log(80, 1, 1000, name="energy"), Regular(80, -2, 2, name="angle"))
h.fill(energy, angle)
alone = Histogram(Log(80, 1, 1000, name="energy")).fill(energy)
print("the projection equals a histogram of the energy alone:", h.project("energy") == alone)
print("mutual information:", round(h.inform().mutual, 4), "nats")

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.2), layout="constrained")
h.plot(left, norm=LogNorm())
h.project("energy").plot(right)
right.set_yscale("log")
