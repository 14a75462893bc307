"""Noise reduction of recordings by a spectral gate, and the times at which sounds begin.

    python port.py                   # 4 channels of 20 s, on NumPy
    python port.py jax 2 3           # 2 channels of 3 s, on JAX

The recordings come from ``recording.py``, which stands for a reader of files.
"""

import sys

from recording import RATE, make_recording

import xarrayops as xo
import xarrayops.numpy as np


def remove_drift(x):
    """Each channel without its line of least squares."""
    t = np.arange(x.shape[1], like=x)
    t = t - np.mean(t)
    slope = np.sum((x * t), 1) / np.sum(t**2)
    return x - np.mean(x, 1)[:, None] - slope[:, None] * t  # returned: JAX cannot write the array of the caller


def frames_of(x, size, hop):
    """Overlapping frames: (channel, frame, sample)."""
    count = (x.shape[1] - size) // hop + 1
    index = np.arange(count, like=x)[:, None] * hop + np.arange(size, like=x)
    return np.reshape(np.take(x, np.ravel(index), 1), (x.shape[0], count, size))  # one operation for all frames


def gate(spectra, strength, floor):
    """Attenuate what is not above the noise of its frequency, which is the quiet fifth of the frames."""
    power = np.abs(spectra) ** 2
    noise = np.percentile(power, 20, 1)
    quiet = power < strength * noise[:, None]
    return np.where(quiet, floor * spectra, spectra), np.mean(quiet)  # no selection, whose size depends on data


def overlap_add(frames, window, hop, length):
    """The signal whose frames these are, each weighted by the window."""
    signal = added(frames * window, hop, length)
    weight = added(np.broadcast_to(window**2, (1, *frames.shape[1:])), hop, length)
    return signal / np.where(weight > 0.1, weight, 1)


def added(frames, hop, length):
    """The sum of overlapping frames: one addition for each part of a frame, instead of one for each frame."""
    channels, count, size = frames.shape
    if size % hop:
        raise ValueError(f"frames of {size} samples are not a multiple of the hop of {hop}")
    parts = np.reshape(frames, (channels, count, size // hop, hop))
    blocks = -(-length // hop)
    signal = sum(np.pad(parts[:, :, i], ((0, 0), (i, blocks - count - i), (0, 0))) for i in range(size // hop))
    return np.reshape(signal, (channels, blocks * hop))[:, :length]


def denoise(x, size=512, hop=128, strength=8.0, floor=0.05):
    """The recording without most of its noise, and the share of the spectrum that was attenuated."""
    window = np.asarray(np.hanning(size), like=x)
    spectra = np.fft.rfft(frames_of(x, size, hop) * window)
    spectra, share = gate(spectra, strength, floor)
    return overlap_add(np.fft.irfft(spectra), window, hop, x.shape[1]), share


def onsets(x, size=400):
    """Channel and sample where the loudness rises above half of its largest value."""
    sums = np.cumsum(np.pad(x**2, ((0, 0), (size // 2 + 1, (size - 1) // 2))), 1)
    loudness = (sums[:, size:] - sums[:, :-size]) / size  # PyTorch and JAX have no quick convolution of this length
    loud = loudness > 0.5 * np.max(loudness, 1)[:, None]
    rises = np.diff(np.astype(loud, int), axis=1) > 0
    return np.argwhere(rises)


def analyse(recording):
    """The recording after noise reduction, the share of its spectrum that was attenuated, and where sounds begin."""
    x = remove_drift(recording)
    y, share = denoise(x)
    return y, share, onsets(y)


if __name__ == "__main__":
    library = sys.argv[1] if len(sys.argv) > 1 else "numpy"
    channels, seconds = map(int, sys.argv[2:]) if len(sys.argv) > 2 else (4, 20)
    y, share, found = analyse(xo.convert(make_recording(channels, seconds), library))
    print(f"{share:.1%} of the spectrum attenuated; seconds at which sounds begin, by channel:")
    for channel in range(channels):
        print(f"  {channel}:", *(f"{sample / RATE:.2f}" for where, sample in found if where == channel))
