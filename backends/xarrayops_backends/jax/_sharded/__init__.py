"""Functions of arrays that are split over a mesh: each device computes with its shard, and exchanges small results.

A plan is a function with the arguments of a verb. It returns how shards serve a call, with the exact bytes that move,
or None: then XLA gathers what it needs. The devices run one program by ``jax.shard_map``, on a mesh with automatic or
explicit axes. Under `jax.jit` the shards are known on a mesh of explicit axes only.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any

from xarrayops.plugin import Call
from xarrayops.plugin.backends import following, limited
from xarrayops.plugin.costs import RULES
from xarrayops.plugin.sharding import Cost
from xarrayops_backends.jax._sharding import _may_be_split, _may_have_shards

_FILES = {
    "tall": "linalg.qr linalg.svd linalg.svdvals linalg.pinv linalg.lstsq",
    "selection": "median nanmedian quantile nanquantile percentile nanpercentile",
    "counting": "bincount histogram",
    "sorting": "sort argsort topk",
}
_PLANS = {verb: file for file, verbs in _FILES.items() for verb in verbs.split()}
"""The file with the plan of a verb. It is imported for the first array that may be split."""


@cache
def _plan(verb: str) -> Callable[..., Any]:
    plan: Callable[..., Any] = getattr(import_module(f"{__name__}.{_PLANS[verb]}"), verb.removeprefix("linalg."))
    return plan


def served_in_shards(verb: str, whole: Callable[..., Any]) -> Callable[..., Any]:
    """The function within the limits of split arrays. Shards serve the calls that have a plan."""
    if verb not in _PLANS:
        return limited(verb, whole, may_be_split=_may_be_split)

    def of_shards(*args: Any, **kwargs: Any) -> Any:
        plan = _plan(verb)(*args, **kwargs)
        return whole(*args, **kwargs) if plan is None else plan.run()

    def cost(call: Call) -> Cost | None:
        plan = _plan(verb)(*call.args, **call.kwargs)
        return cost_of_whole(call) if plan is None else plan.cost

    served = limited(verb, whole, may_be_split=_may_have_shards, of_split=of_shards)
    cost_of_whole = vars(following(verb, RULES[verb])(of_shards))["cost"]
    vars(served)["cost"] = cost
    return served
