"""Images that stand for those of a microscope."""

import numpy as np


def make_images(count, size, seed=0):
    """Counts of a camera of 12 bits: bright spots on an uneven background, with noise and hot pixels."""
    np.random.seed(seed)
    y, x = np.mgrid[0:size, 0:size] / size
    images = np.empty((count, size, size))
    for i in range(count):
        images[i] = 300 + 600 * x * y + 40 * np.random.randn(size, size)
        for _ in range(12):
            at_y, at_x, width = np.random.rand(3)
            images[i] += 900 * np.exp(-((y - at_y) ** 2 + (x - at_x) ** 2) / (0.002 + 0.003 * width))
    hot = np.random.rand(count, size, size) < 0.001
    images[hot] = 4095
    return np.clip(images, 0, 4095).astype(np.uint16)
