"""Registration by mutual information.

The brightness of two pictures of one scene is not linearly related: the shift between them is where their mutual
information is largest. Shifted pictures are views, so nothing is copied.
"""

import matplotlib.pyplot as plt
import numpy as np
from skimage import data

from histo import image

scene = data.camera()
other = np.roll(np.sin(scene / 40.0), (5, -3), (0, 1))
shifts = range(-10, 11)
mutual = np.array([[image.mutual_information(scene[20:-20, 20:-20], other[20 + y : 492 + y, 20 + x : 492 + x]).mutual
                    for x in shifts] for y in shifts])
best = np.unravel_index(mutual.argmax(), mutual.shape)
print("shift:", shifts[best[0]], shifts[best[1]])

figure, axes = plt.subplots(1, 3, figsize=(10, 3.2), layout="constrained")
axes[0].imshow(scene, cmap="gray")
axes[1].imshow(other, cmap="gray")
axes[2].imshow(mutual, extent=(-10.5, 10.5, 10.5, -10.5))
axes[2].set_title("mutual information")
for picture in axes[:2]:
    picture.set_axis_off()
