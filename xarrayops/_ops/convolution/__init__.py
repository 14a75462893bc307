"""Convolutions and pooling of batches: `convolution` and `pooling`, with the checks of `arguments`."""

from xarrayops._ops.convolution.convolution import conv1d, conv2d, conv3d, explain_convolution
from xarrayops._ops.convolution.pooling import (
    avg_pool1d,
    avg_pool2d,
    avg_pool3d,
    explain_pooling,
    max_pool1d,
    max_pool2d,
    max_pool3d,
)
from xarrayops._ops.verb import Verb

VERBS = (
    Verb("avg_pool1d", avg_pool1d, hook="pooling", explain=explain_pooling),
    Verb("avg_pool2d", avg_pool2d, hook="pooling", explain=explain_pooling),
    Verb("avg_pool3d", avg_pool3d, hook="pooling", explain=explain_pooling),
    Verb("conv1d", conv1d, hook="convolution", explain=explain_convolution),
    Verb("conv2d", conv2d, hook="convolution", explain=explain_convolution),
    Verb("conv3d", conv3d, hook="convolution", explain=explain_convolution),
    Verb("max_pool1d", max_pool1d, hook="pooling", explain=explain_pooling),
    Verb("max_pool2d", max_pool2d, hook="pooling", explain=explain_pooling),
    Verb("max_pool3d", max_pool3d, hook="pooling", explain=explain_pooling),
)
