"""The channels of a photograph.

A batch is one histogram for each entry of the first dimensions; here, for each channel. No channel is copied.
"""

import matplotlib.pyplot as plt
from skimage import data

from histo import image

photo = data.astronaut()
channels = image.histogram(photo, channel_axis=-1)
print(channels)
print(channels.summarize().mean.round(2))

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3), width_ratios=(1, 2), layout="constrained")
left.imshow(photo)
left.set_axis_off()
for k, colour in enumerate(("tab:red", "tab:green", "tab:blue")):
    channels.entry(k).plot(right, color=colour, fill=True, alpha=0.4)
right.set(xlabel="level", ylim=(0, 4500))
