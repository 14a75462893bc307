"""Convolutions and pooling of batches: `convolution` and `pooling`, with the checks of `arguments`."""

from xarrayops._ops.convolution import convolution, pooling
from xarrayops._ops.verb import Verb

VERBS = (
    Verb("avg_pool1d", pooling.avg_pool1d, hook="pooling", explain=pooling.explain_pooling),
    Verb("avg_pool2d", pooling.avg_pool2d, hook="pooling", explain=pooling.explain_pooling),
    Verb("avg_pool3d", pooling.avg_pool3d, hook="pooling", explain=pooling.explain_pooling),
    Verb("conv1d", convolution.conv1d, hook="convolution", explain=convolution.explain_convolution),
    Verb("conv2d", convolution.conv2d, hook="convolution", explain=convolution.explain_convolution),
    Verb("conv3d", convolution.conv3d, hook="convolution", explain=convolution.explain_convolution),
    Verb("max_pool1d", pooling.max_pool1d, hook="pooling", explain=pooling.explain_pooling),
    Verb("max_pool2d", pooling.max_pool2d, hook="pooling", explain=pooling.explain_pooling),
    Verb("max_pool3d", pooling.max_pool3d, hook="pooling", explain=pooling.explain_pooling),
)
