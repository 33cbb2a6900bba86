"""Thresholds: any number of classes.

Otsu's method finds the split with the least variance within the classes, exactly, for any number of them.
"""

import matplotlib.pyplot as plt
from skimage import data

from histo import image

camera = data.camera()
thresholds = image.threshold(camera, classes=4)
print("thresholds:", thresholds)

figure, (left, middle, right) = plt.subplots(1, 3, figsize=(10, 3), layout="constrained")
left.imshow(camera, cmap="gray")
image.histogram(camera).plot(middle, fill=True)
for t in thresholds:
    middle.axvline(t + 0.5, color="tab:red")
middle.set_ylabel("")
right.imshow(image.segment(camera, classes=4), cmap="viridis")
for axes in (left, right):
    axes.set_axis_off()
