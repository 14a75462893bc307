"""Precision: how products are computed, mixed precision, and the scaling of losses.

`blocks` has the blocks `precision` and `autocast`, `explain` shows their policy, and `scaling` has `loss_scale`.
"""

from xarrayops._ops.precision.blocks import autocast, precision
from xarrayops._ops.precision.scaling import LossScale, loss_scale
from xarrayops._ops.verb import Verb

VERBS = (Verb("autocast", autocast), Verb("loss_scale", loss_scale, results=(LossScale,)), Verb("precision", precision))
