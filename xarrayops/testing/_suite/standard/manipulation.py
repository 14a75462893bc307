"""Functions that rearrange elements."""

import numpy as np

from xarrayops.testing._suite.samples import ALL, sample
from xarrayops.testing._suite.table import call, row

CUBE = sample("float32", (2, 3, 4))
EMPTY = sample("float32", (0, 3))
EACH = [sample(d, (2, 3)) for d in ALL]


ROWS = [
    row(
        "broadcast_arrays",
        np.broadcast_arrays,
        call(sample("float32", (3, 1)), sample("float32", (4,))),
        call(EMPTY, sample("float32", (2, 1, 3)), sample("float32", ())),
        call(CUBE),
    ),
    row(
        "broadcast_to",
        np.broadcast_to,
        call(sample("float32", (3, 1)), (2, 3, 4)),
        call(sample("int64", ()), (2, 2)),
        call(EMPTY, (2, 0, 3)),
    ),
    row(
        "concat",
        np.concatenate,
        call([CUBE, CUBE[:1]]),
        call((CUBE, CUBE[:, :2]), axis=1),
        call([CUBE, EMPTY], axis=None),
        call([sample("float32", (2,)), sample("float64", (3,))]),
        call([sample("int8", (2,)), sample("uint8", (0,))]),
        *(call([x, x], axis=-1) for x in EACH),
    ),
    row("expand_dims", np.expand_dims, call(CUBE, 1), call(CUBE, -1), call(sample("int64", ()), 0), call(CUBE, (0, 2))),
    row(
        "flip", np.flip, call(CUBE), call(CUBE, axis=1), call(CUBE, axis=(0, -1)), call(EMPTY), *(call(x) for x in EACH)
    ),
    row("matrix_transpose", np.matrix_transpose, call(CUBE), call(EMPTY), *(call(x) for x in EACH)),
    row("moveaxis", np.moveaxis, call(CUBE, 0, -1), call(CUBE, (0, 1), (-1, 0)), call(sample("int8", (3,)), 0, 0)),
    row("permute_dims", np.transpose, call(CUBE, (2, 0, 1)), call(CUBE, (0, 2, 1)), call(sample("bool", ()), ())),
    row(
        "repeat",
        np.repeat,
        call(CUBE, 2, axis=1),
        call(sample("float32", (2, 2)), 3),
        call(CUBE, sample("int64", (3,), low=0, high=3), axis=1),
        call(EMPTY, 2, axis=0),
        call(sample("float32", (3,)), 0),
        *(call(x, 2, axis=0) for x in EACH),
        dtype="first",
    ),
    row(
        "reshape",
        np.reshape,
        call(CUBE, (4, 6)),
        call(CUBE, (-1,)),
        call(EMPTY, (3, 0, 2)),
        call(sample("float32", ()), (1, 1)),
        call(sample("float32", (1,)), ()),
        call(CUBE, (6, 4), copy=True),
        *(call(x, (3, 2)) for x in EACH),
    ),
    row(
        "roll",
        np.roll,
        call(CUBE, 1, axis=2),
        call(CUBE, -5),
        call(CUBE, (1, -1), axis=(0, 2)),
        call(CUBE, (1, 2), axis=-1),
        call(CUBE, (1, 2), axis=(2,)),
        call(CUBE, 3, axis=(0, -1)),
        call(CUBE, (1, 2), axis=(1, 1)),
        call(CUBE, (1, 2)),
        call(CUBE, (), axis=0),
        call(EMPTY, 1, axis=0),
        call(EMPTY, (1, 2)),
        call(sample("int64", ()), 2),
        *(call(x, 1, axis=0) for x in EACH),
    ),
    row("squeeze", np.squeeze, call(CUBE[:, :1], 1), call(CUBE[:1, :1], (0, 1)), call(CUBE[..., :1], -1)),
    row(
        "stack",
        np.stack,
        call([CUBE, CUBE]),
        call((CUBE, CUBE), axis=-1),
        call([sample("float32", ()), sample("float64", ())]),
        call([EMPTY, EMPTY], axis=1),
        *(call([x, x]) for x in EACH),
    ),
    row(
        "tile",
        np.tile,
        call(CUBE, (2, 1, 2)),
        call(CUBE, (2,)),
        call(EMPTY, (2, 2)),
        call(sample("int8", (2,)), (2, 3)),
    ),
    row("tril", np.tril, call(CUBE), call(CUBE, k=1), call(CUBE, k=-1), call(EMPTY), *(call(x) for x in EACH)),
    row("triu", np.triu, call(CUBE), call(CUBE, k=1), call(CUBE, k=-1), call(EMPTY), *(call(x) for x in EACH)),
    row("unstack", np.unstack, call(CUBE), call(CUBE, axis=-1), call(EMPTY, axis=1), *(call(x) for x in EACH)),
]
