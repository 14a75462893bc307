"""Features of microscope images: repair, flatten and equalise each image, then describe it by a few numbers.

    python original.py            # 32 images of 256 x 256 pixels
    python original.py 8 64       # 8 images of 64 x 64 pixels

The images come from ``microscope.py``, which stands for a reader of files.
"""

import sys

import numpy as np
from microscope import make_images


def repair(images, limit):
    """Replace the pixels that are far above their four neighbours by the mean of these, in place."""
    near = np.zeros_like(images)
    inner = near[:, 1:-1, 1:-1]
    inner += images[:, :-2, 1:-1]
    inner += images[:, 2:, 1:-1]
    inner += images[:, 1:-1, :-2]
    inner += images[:, 1:-1, 2:]
    inner /= 4
    hot = images - near > limit
    hot[:, [0, -1], :] = False
    hot[:, :, [0, -1]] = False
    images[hot] = near[hot]
    return hot.sum()


def background(images, radius):
    """The mean of the square around each pixel, from sums along both axes."""
    width = 2 * radius + 1
    padded = np.pad(images, ((0, 0), (radius + 1, radius), (radius + 1, radius)), "reflect")
    sums = padded.cumsum(1).cumsum(2)
    mean = sums[:, width:, width:] - sums[:, :-width, width:]
    mean -= sums[:, width:, :-width]
    mean += sums[:, :-width, :-width]
    mean /= width**2
    return mean


def equalise(images, bins=128):
    """Spread the brightness of each image evenly over 0 to 1."""
    result = np.empty_like(images)
    for i in range(len(images)):
        counts, edges = np.histogram(images[i], bins)
        share = counts.cumsum() / counts.sum()
        result[i] = np.interp(images[i].ravel(), edges[1:], share).reshape(images[i].shape)
    return result


def gradient(images):
    """The length of the gradient; 0 at the border."""
    down = np.zeros_like(images)
    right = np.zeros_like(images)
    down[:, 1:-1] = (images[:, 2:] - images[:, :-2]) / 2
    right[:, :, 1:-1] = (images[:, :, 2:] - images[:, :, :-2]) / 2
    return np.sqrt(down**2 + right**2)


def brightness(images, samples=2000):
    """The brightness below which nine tenths of the pixels are, from random pixels."""
    rng = np.random.RandomState(0)
    rows = rng.randint(0, images.shape[1], samples)
    columns = rng.randint(0, images.shape[2], samples)
    return np.percentile(images[:, rows, columns], 90, axis=1)


def features(counts, radius=12):
    """A row of standardised features for each image, and the number of hot pixels."""
    images = counts.astype(float) / 4095
    hot = repair(images, 0.3)
    images /= np.maximum(background(images, radius), 1e-3)
    np.clip(images, 0.5, 4, out=images)
    edges = gradient(images)
    even = equalise(images)
    table = np.empty((images.shape[0], 6))
    table[:, 0] = images.mean((1, 2))
    table[:, 1] = images.std((1, 2))
    table[:, 2] = images.max((1, 2))
    table[:, 3] = brightness(images)
    table[:, 4] = edges.mean((1, 2))
    table[:, 5] = (even * edges).sum((1, 2)) / edges.sum((1, 2))
    table -= table.mean(0)
    table /= table.std(0)
    return table, hot


if __name__ == "__main__":
    count, size = map(int, sys.argv[1:]) if len(sys.argv) > 1 else (32, 256)
    table, hot = features(make_images(count, size))
    print(f"{hot} hot pixels repaired; the features of the first image: {np.round(table[0], 3)}")
