"""A recording that stands for one of a microphone."""

import numpy as np

RATE = 8000
"""Samples in a second."""


def make_recording(channels, seconds, seed=0):
    """Tones that come and go, a slow drift, and noise."""
    rng = np.random.default_rng(seed)
    t = np.arange(seconds * RATE) / RATE
    x = np.zeros((channels, t.size))
    for i in range(channels):
        tone = np.sin(2 * np.pi * (300 + 170 * i) * t)
        tone[np.sin(2 * np.pi * 0.7 * t + i) < 0.2] = 0
        x[i] = tone
    x += 0.4 * t
    x += rng.normal(scale=0.2, size=x.shape)
    return x
