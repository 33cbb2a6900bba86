"""Contrast: equalization, of the whole image and of tiles.

`equalize` spreads the levels evenly; `clahe` does so in tiles, with a limit to the contrast, and interpolates between
them. For bytes, both have the bits of OpenCV's results.
"""

import matplotlib.pyplot as plt
from skimage import data

from histo import image

moon = data.moon()
results = {"moon": moon, "equalize": image.equalize(moon), "clahe": image.clahe(moon, clip=3)}

figure, axes = plt.subplots(2, 3, figsize=(9, 4.4), height_ratios=(3, 1), layout="constrained")
for (name, picture), (above, below) in zip(results.items(), axes.T):
    above.imshow(picture, cmap="gray", vmin=0, vmax=255)
    above.set_title(name)
    above.set_axis_off()
    image.histogram(picture).plot(below, fill=True)
    below.set_ylabel("")
