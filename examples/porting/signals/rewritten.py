"""Noise reduction of recordings by a spectral gate, and the times at which sounds begin.

    python original.py            # 4 channels of 20 s
    python original.py 2 3        # 2 channels of 3 s

The recordings come from ``recording.py``, which stands for a reader of files.
"""

import sys

import xarrayops as xo
import xarrayops.numpy as np
from recording import RATE, make_recording


def remove_drift(x):
    """Subtract the line of least squares from each channel, in place."""
    t = np.arange(x.shape[1], like=x)
    t = t - np.mean(t)
    slope = np.sum(x * t, 1) / np.sum(t**2)
    # TODO(port): x is written in place (the caller passes x, and sees the change); JAX and Dask cannot. Instead: x = xo.at(x)[...].assign(x - np.mean(x, 1)[:, None])  # other variables keep the old array
    x[...] -= np.mean(x, 1)[:, None]
    # TODO(port): x is written in place (the caller passes x, and sees the change); JAX and Dask cannot. Instead: x = xo.at(x)[...].assign(x - slope[:, None] * t)  # other variables keep the old array
    x[...] -= slope[:, None] * t


def frames_of(x, size, hop):
    """Overlapping frames: (channel, frame, sample)."""
    count = (x.shape[1] - size) // hop + 1
    frames = np.empty((x.shape[0], count, size), like=x)
    for i in range(count):
        frames = xo.at(frames)[:, i].set(x[:, i * hop : i * hop + size], copy=None)
    return frames


def gate(spectra, strength, floor):
    """Attenuate what is not above the noise of its frequency, which is the quiet fifth of the frames."""
    power = np.abs(spectra) ** 2
    noise = np.percentile(power, 20, 1)
    quiet = power < strength * noise[:, None]
    # TODO(port): spectra is written in place (the caller passes spectra, and sees the change); JAX and Dask cannot. Instead: spectra = np.astype(np.where(quiet, spectra * floor, spectra), spectra.dtype)  # if the mask has the shape of spectra  # other variables keep the old array
    spectra[quiet] *= floor
    return np.mean(quiet)


def overlap_add(frames, window, hop, length):
    """The signal whose frames these are, each weighted by the window."""
    size = frames.shape[2]
    signal = np.zeros((frames.shape[0], length), like=frames)
    weight = np.zeros(length, like=frames)
    for i in range(frames.shape[1]):
        part = signal[:, i * hop : i * hop + size]
        # TODO(port): part is written in place (signal may share its memory and is read later); JAX and Dask cannot. Instead: part = xo.at(part)[...].assign(part + frames[:, i] * window)  # other variables keep the old array
        part[...] += frames[:, i] * window
        weight = xo.at(weight)[i * hop : i * hop + size].add(window**2, copy=None)
    # TODO(port): signal is written in place (the call cannot be taken apart); JAX and Dask cannot. Instead: signal = xo.at(signal)[...].assign(np.where(weight > 0.1, np.divide(signal, weight), signal))  # other variables keep the old array
    np.divide(signal, weight, out=signal, where=weight > 0.1)
    return signal


def denoise(x, size=512, hop=128, strength=8.0, floor=0.05):
    """The recording without most of its noise, and the share of the spectrum that was attenuated."""
    window = np.hanning(size, like=x)
    spectra = np.fft.rfft(frames_of(x, size, hop) * window)
    share = gate(spectra, strength, floor)
    return overlap_add(np.fft.irfft(spectra), window, hop, x.shape[1]), share


def onsets(x, size=400):
    """Channel and sample where the loudness rises above half of its largest value."""
    loudness = np.empty_like(x)
    for channel, out in zip(x, loudness, strict=True):
        # TODO(port): out is written in place (out may share the memory of x); JAX and Dask cannot. Instead: out = xo.at(out)[:].assign(np.convolve(channel ** 2, np.ones(size, like=x) / size, 'same'))  # other variables keep the old array
        out[:] = np.convolve(channel**2, np.ones(size, like=x) / size, "same")
    loud = loudness > 0.5 * np.max(loudness, 1)[:, None]
    rises = np.diff(np.astype(loud, int), axis=1) > 0
    return np.argwhere(rises)


def analyse(recording):
    """The recording after noise reduction, the share of its spectrum that was attenuated, and where sounds begin."""
    # TODO(port): the method copy differs by library if recording is an array. Instead: np.copy(recording)
    x = recording.copy()
    remove_drift(x)
    y, share = denoise(x)
    return y, share, onsets(y)


if __name__ == "__main__":
    channels, seconds = map(int, sys.argv[1:]) if len(sys.argv) > 1 else (4, 20)
    y, share, found = analyse(make_recording(channels, seconds))
    print(f"{share:.1%} of the spectrum attenuated; seconds at which sounds begin, by channel:")
    for channel in range(channels):
        print(f"  {channel}:", *(f"{sample / RATE:.2f}" for where, sample in found if where == channel))
