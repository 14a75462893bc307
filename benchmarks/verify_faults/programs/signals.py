"""Signals: windows, filters, spectra, resampling."""

import numpy as np
import scipy.signal


def hann(n):
    return 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(n) / (n - 1))


def kaiser_gain(n, beta):
    w = np.kaiser(n, beta)
    return w / w.sum(), float(w.max())


def framed(x, size, step):
    count = 1 + (len(x) - size) // step
    frames = np.zeros((count, size))
    for i in range(count):
        frames[i] = x[i * step : i * step + size]
    return frames * hann(size)


def spectrum(x, rate):
    power = np.abs(np.fft.rfft(x)) ** 2 / len(x)
    return np.fft.rfftfreq(len(x), 1 / rate), power


def fft_filter(x, keep):
    f = np.fft.fft(x)
    f[keep:-keep] = 0
    return np.fft.ifft(f).real


def preemphasis(x):
    y = x.copy()
    y[1:] -= 0.97 * x[:-1]
    return y


def moving_average(x, n):
    c = np.cumsum(np.concatenate([np.zeros(1), x]))
    return (c[n:] - c[:-n]) / n


def zero_crossings(x):
    s = np.signbit(x)
    return np.flatnonzero(s[1:] != s[:-1])


def envelope(x, a):
    out = np.empty_like(x)
    level = 0.0
    for i in range(len(x)):
        level = max(abs(float(x[i])), a * level)
        out[i] = level
    return out


def detrended(x):
    return scipy.signal.detrend(x, axis=0) / x.std(axis=0)


def normalise_in_place(x):
    x -= x.mean()
    x /= np.abs(x).max()


def resampled(x, n):
    old = np.linspace(0.0, 1.0, len(x))
    return np.interp(np.linspace(0.0, 1.0, n), old, x)


def analytic_phase(x):
    n = len(x)
    h = np.zeros(n)
    h[0] = 1
    h[1 : (n + 1) // 2] = 2
    z = np.fft.ifft(np.fft.fft(x) * h)
    return np.angle(z), z


def decibels(x, floor):
    p = np.where(x > floor, x, floor)
    return 10 * np.log10(p)


CALLS = {
    "hann": "hann(16)",
    "kaiser_gain": "kaiser_gain(12, 5.0)",
    "framed": "framed(np.sin(np.arange(40.0)), 8, 4)",
    "spectrum": "spectrum(np.sin(0.3 * np.arange(32.0)), 100.0)",
    "fft_filter": "fft_filter(np.cos(np.arange(32.0)) + 0.2, 5)",
    "preemphasis": "preemphasis(np.sin(np.arange(20.0)))",
    "moving_average": "moving_average(np.sin(np.arange(30.0)), 4)",
    "zero_crossings": "zero_crossings(np.sin(0.7 * np.arange(40.0)))",
    "envelope": "envelope(np.sin(np.arange(15.0)), 0.9)",
    "detrended": "detrended(np.sin(np.arange(30.0)).reshape(10, 3))",
    "normalise_in_place": "normalise_in_place(np.sin(np.arange(12.0)))",
    "resampled": "resampled(np.sin(np.arange(9.0)), 17)",
    "analytic_phase": "analytic_phase(np.sin(0.5 * np.arange(21.0)))",
    "decibels": "decibels(np.abs(np.sin(np.arange(10.0))), 0.3)",
}
