"""Features of microscope images: repair, flatten and equalise each image, then describe it by a few numbers.

    python original.py            # 32 images of 256 x 256 pixels
    python original.py 8 64       # 8 images of 64 x 64 pixels

The images come from ``microscope.py``, which stands for a reader of files.
"""

import sys

import numpy
import xarrayops as xo
import xarrayops.numpy as np
from microscope import make_images


def repair(images, limit):
    """Replace the pixels that are far above their four neighbours by the mean of these, in place."""
    near = np.zeros_like(images)
    inner = near[:, 1:-1, 1:-1]
    # TODO(port): inner is written in place (near may share its memory and is read later); JAX and Dask cannot. Instead: inner = xo.at(inner)[...].assign(inner + images[:, :-2, 1:-1])  # other variables keep the old array
    inner[...] += images[:, :-2, 1:-1]
    # TODO(port): inner is written in place (near may share its memory and is read later); JAX and Dask cannot. Instead: inner = xo.at(inner)[...].assign(inner + images[:, 2:, 1:-1])  # other variables keep the old array
    inner[...] += images[:, 2:, 1:-1]
    # TODO(port): inner is written in place (near may share its memory and is read later); JAX and Dask cannot. Instead: inner = xo.at(inner)[...].assign(inner + images[:, 1:-1, :-2])  # other variables keep the old array
    inner[...] += images[:, 1:-1, :-2]
    # TODO(port): inner is written in place (near may share its memory and is read later); JAX and Dask cannot. Instead: inner = xo.at(inner)[...].assign(inner + images[:, 1:-1, 2:])  # other variables keep the old array
    inner[...] += images[:, 1:-1, 2:]
    # TODO(port): inner is written in place (near may share its memory and is read later); JAX and Dask cannot. Instead: inner = xo.at(inner)[...].assign(inner / 4)  # other variables keep the old array
    inner[...] /= 4
    hot = images - near > limit
    hot = xo.at(hot)[:, [0, -1], :].set(False, copy=None)
    hot = xo.at(hot)[:, :, [0, -1]].set(False, copy=None)
    # TODO(port): images is written in place (the caller passes images, and sees the change); JAX and Dask cannot. Instead: images = np.astype(np.where(hot, near, images), images.dtype)  # if the mask has the shape of images  # other variables keep the old array
    images[hot] = near[hot]
    return np.sum(hot)


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
    result = np.empty_like(images)
    for i in range(len(images)):
        counts, edges = np.histogram(images[i], bins)
        share = np.cumsum(counts) / np.sum(counts)
        result = xo.at(result)[i].assign(np.reshape(np.interp(np.ravel(images[i]), edges[1:], share), images[i].shape))
    return result


def gradient(images):
    """The length of the gradient; 0 at the border."""
    down = np.zeros_like(images)
    right = np.zeros_like(images)
    down = xo.at(down)[:, 1:-1].assign((images[:, 2:] - images[:, :-2]) / 2)
    right = xo.at(right)[:, :, 1:-1].assign((images[:, :, 2:] - images[:, :, :-2]) / 2)
    return np.sqrt(down**2 + right**2)


def brightness(images, samples=2000):
    """The brightness below which nine tenths of the pixels are, from random pixels."""
    rng = numpy.random.RandomState(0)
    rows = np.asarray(rng.randint(0, images.shape[1], samples), like=images)
    columns = np.asarray(rng.randint(0, images.shape[2], samples), like=images)
    return np.percentile(images[:, rows, columns], 90, axis=1)


def features(counts, radius=12):
    """A row of standardised features for each image, and the number of hot pixels."""
    images = np.astype(counts, float) / 4095
    hot = repair(images, 0.3)
    images /= np.maximum(background(images, radius), 1e-3)
    images = xo.at(images)[...].set(np.clip(images, 0.5, 4), copy=None)
    edges = gradient(images)
    even = equalise(images)
    table = np.empty((images.shape[0], 6), like=counts)
    table = xo.at(table)[:, 0].set(np.mean(images, (1, 2)), copy=None)
    table = xo.at(table)[:, 1].set(np.std(images, (1, 2)), copy=None)
    table = xo.at(table)[:, 2].set(np.max(images, (1, 2)), copy=None)
    table = xo.at(table)[:, 3].set(brightness(images), copy=None)
    table = xo.at(table)[:, 4].set(np.mean(edges, (1, 2)), copy=None)
    table = xo.at(table)[:, 5].set(np.sum(even * edges, (1, 2)) / np.sum(edges, (1, 2)), copy=None)
    table -= np.mean(table, 0)
    table /= np.std(table, 0)
    return table, hot


if __name__ == "__main__":
    count, size = map(int, sys.argv[1:]) if len(sys.argv) > 1 else (32, 256)
    table, hot = features(make_images(count, size))
    print(f"{hot} hot pixels repaired; the features of the first image: {np.round(table[0], 3)}")
