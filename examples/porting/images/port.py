"""Features of microscope images: repair, flatten and equalise each image, then describe it by a few numbers.

    python port.py                   # 32 images of 256 x 256 pixels, on NumPy
    python port.py torch 8 64        # 8 images of 64 x 64 pixels, on PyTorch

The images come from ``microscope.py``, which stands for a reader of files.
"""

import sys

import numpy
from microscope import make_images

import xarrayops as xo
import xarrayops.numpy as np


def repair(images, limit):
    """The images with the mean of the four neighbours instead of pixels far above it, and how many these are."""
    around = images[:, :-2, 1:-1] + images[:, 2:, 1:-1] + images[:, 1:-1, :-2] + images[:, 1:-1, 2:]
    near = np.pad(around / 4, ((0, 0), (1, 1), (1, 1)))  # a sum instead of five writes through a view
    hot = images - near > limit
    hot = xo.at(hot)[:, [0, -1], :].set(False, copy=None)
    hot = xo.at(hot)[:, :, [0, -1]].set(False, copy=None)
    return np.where(hot, near, images), np.sum(hot)  # the images are returned: JAX cannot write those of the caller


def background(images, radius):
    """The mean of the square around each pixel, from sums along both axes."""
    width = 2 * radius + 1
    padded = np.pad(images, ((0, 0), (radius + 1, radius), (radius + 1, radius)), "reflect")
    sums = np.cumsum(np.cumsum(padded, 1), 2)
    mean = sums[:, width:, width:] - sums[:, :-width, width:]
    mean -= sums[:, width:, :-width]
    mean += sums[:, :-width, :-width]
    mean /= width**2
    return mean


def equalise(images, bins=128):
    """Spread the brightness of each image evenly over 0 to 1."""
    result = []
    for image in images:
        counts, edges = np.histogram(image, bins)
        share = np.divide(np.cumsum(counts), np.sum(counts))  # PyTorch's operator / makes float32 of integers
        result.append(np.reshape(np.interp(np.ravel(image), edges[1:], share), image.shape))
    return np.stack(result)  # on JAX an assignment in each step would copy all images


def gradient(images):
    """The length of the gradient; 0 at the border."""
    down = np.zeros_like(images)
    right = np.zeros_like(images)
    down = xo.at(down)[:, 1:-1].set((images[:, 2:] - images[:, :-2]) / 2, copy=None)
    right = xo.at(right)[:, :, 1:-1].set((images[:, :, 2:] - images[:, :, :-2]) / 2, copy=None)
    return np.sqrt(down**2 + right**2)


def brightness(images, samples=2000):
    """The brightness below which nine tenths of the pixels are, from random pixels."""
    rng = numpy.random.RandomState(0)
    pixels = rng.randint(0, images.shape[1], samples) * images.shape[2] + rng.randint(0, images.shape[2], samples)
    index = np.asarray(pixels, like=images)  # Dask takes no index of two arrays
    return np.percentile(np.take(np.reshape(images, (images.shape[0], -1)), index, 1), 90, axis=1)


def features(counts, radius=12):
    """A row of standardised features for each image, and the number of hot pixels."""
    images = np.astype(counts, float) / 4095
    images, hot = repair(images, 0.3)
    images /= np.maximum(background(images, radius), 1e-3)
    images = xo.at(images)[...].set(np.clip(images, 0.5, 4), copy=None)
    edges = gradient(images)
    even = equalise(images)
    columns = (
        *(np.mean(images, (1, 2)), np.std(images, (1, 2)), np.max(images, (1, 2)), brightness(images)),
        *(np.mean(edges, (1, 2)), np.sum(even * edges, (1, 2)) / np.sum(edges, (1, 2))),
    )
    table = np.stack(columns, 1)
    table = xo.at(table)[...].subtract(np.mean(table, 0), copy=None)
    table = xo.at(table)[...].divide(np.std(table, 0), copy=None)
    return table, hot


if __name__ == "__main__":
    library = sys.argv[1] if len(sys.argv) > 1 else "numpy"
    count, size = map(int, sys.argv[2:]) if len(sys.argv) > 2 else (32, 256)
    table, hot = features(xo.convert(make_images(count, size), library))
    print(f"{hot} hot pixels repaired; the features of the first image: {np.round(table[0], 3)}")
