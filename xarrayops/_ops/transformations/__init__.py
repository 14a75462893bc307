"""Transformations of functions: gradients, batches, and less memory for gradients.

`gradients` differentiates, `batches` has `vmap`, and `memory` has `checkpoint` and `no_grad`.
PyTorch and JAX differentiate and batch; other libraries raise `Unsupported`.
"""

from xarrayops._ops.transformations.batches import vmap
from xarrayops._ops.transformations.gradients import grad, value_and_grad
from xarrayops._ops.transformations.memory import checkpoint, no_grad
from xarrayops._ops.verb import Verb

VERBS = (
    Verb("checkpoint", checkpoint, hook="checkpoint"),
    Verb("grad", grad, hook="value_and_grad"),
    Verb("no_grad", no_grad, hook="no_grad"),
    Verb("value_and_grad", value_and_grad, hook="value_and_grad"),
    Verb("vmap", vmap, hook="vmap"),
)
