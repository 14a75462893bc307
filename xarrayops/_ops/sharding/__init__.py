"""Arrays that are split over devices or tasks: how they are split, how to split them, and limits of memory."""

from xarrayops._ops.sharding.bounds import limits
from xarrayops._ops.sharding.inspection import sharding_of
from xarrayops._ops.sharding.splitting import shard
from xarrayops._ops.verb import Verb
from xarrayops.plugin.sharding import Sharding

VERBS = (
    Verb("limits", limits),
    Verb("shard", shard, hook="shard", creates=True),
    Verb("sharding_of", sharding_of, hook="sharding_of", results=(Sharding,)),
)
