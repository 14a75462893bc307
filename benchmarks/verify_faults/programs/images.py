"""Images: filters, masks, colours, small integers."""

import numpy as np
import scipy.ndimage


def box_blur(image):
    p = np.pad(image, 1, mode="edge")
    total = np.zeros_like(image)
    for dy in range(3):
        for dx in range(3):
            total += p[dy : dy + image.shape[0], dx : dx + image.shape[1]]
    return total / 9


def gradient_magnitude(image):
    gy = image[2:, 1:-1] - image[:-2, 1:-1]
    gx = image[1:-1, 2:] - image[1:-1, :-2]
    return np.sqrt(gx**2 + gy**2)


def gamma(image, g):
    table = (255 * (np.arange(256) / 255) ** g).round().astype(np.uint8)
    return table[image]


def inverted(image):
    return 255 - image


def grey(image):
    return (image @ np.array([0.299, 0.587, 0.114])).astype(np.float32)


def threshold(image, level):
    mask = image > level
    return mask, mask.sum()


def checkerboard(n):
    return (np.indices((n, n)).sum(axis=0) % 2).astype(bool)


def disk(radius):
    y, x = np.ogrid[-radius : radius + 1, -radius : radius + 1]
    return x * x + y * y <= radius * radius


def bounding_box(mask):
    rows, cols = np.where(mask)
    return rows.min(), rows.max(), cols.min(), cols.max()


def smoothed(image, sigma):
    return scipy.ndimage.gaussian_filter(image, sigma) - image.mean()


def equalised(image):
    counts = np.bincount(image.ravel(), minlength=16)
    cdf = counts.cumsum() / image.size
    return cdf[image]


def stretched(image):
    low, high = image.min(), image.max()
    return ((image - low) / (high - low)).astype(np.float32)


def tiles(image, n):
    h, w = image.shape
    return image.reshape(h // n, n, w // n, n).swapaxes(1, 2).mean(axis=(2, 3))


def zeroed_border(image):
    out = image.copy()
    out[0] = 0
    out[-1] = 0
    out[:, 0] = 0
    out[:, -1] = 0
    return out


def packed(image):
    return np.packbits(image > 0.2, axis=1)


I = "np.sin(np.arange(48.0) ** 1.3).reshape(6, 8)"
CALLS = {
    "box_blur": f"box_blur({I})",
    "gradient_magnitude": f"gradient_magnitude({I})",
    "gamma": "gamma(np.arange(0, 240, 10).reshape(4, 6), 2.2)",
    "inverted": "inverted(np.arange(12, dtype=np.uint8))",
    "grey": "grey(np.sin(np.arange(36.0)).reshape(3, 4, 3))",
    "threshold": f"threshold({I}, 0.25)",
    "checkerboard": "checkerboard(5)",
    "disk": "disk(3)",
    "bounding_box": f"bounding_box({I} > 0.6)",
    "smoothed": f"smoothed({I}, 1.0)",
    "equalised": "equalised((np.arange(24) ** 2 % 16).reshape(4, 6))",
    "stretched": f"stretched({I}.astype(np.float32))",
    "tiles": f"tiles({I}, 2)",
    "zeroed_border": f"zeroed_border({I})",
    "packed": f"packed({I})",
}
