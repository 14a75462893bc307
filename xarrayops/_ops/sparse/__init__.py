"""Sparse matrices: containers stay native; one contract over their formats and libraries."""

from xarrayops._ops.sparse.build import from_dense, from_parts, parts, to_dense, validate
from xarrayops._ops.sparse.convert import convert
from xarrayops._ops.sparse.explain import explain_matmul, explain_prepared, explain_sparse_convert
from xarrayops._ops.sparse.operations import add, multiply, sddmm, sum, transpose
from xarrayops._ops.verb import Verb
from xarrayops._protocol.sparse import Parts
from xarrayops.standard import matmul

VERBS = (
    Verb("matmul", matmul, explain=explain_matmul),
    Verb("sparse.add", add, explain=explain_prepared(add)),
    Verb("sparse.convert", convert, explain=explain_sparse_convert),
    Verb("sparse.from_dense", from_dense, explain=explain_prepared(from_dense)),
    Verb("sparse.from_parts", from_parts),
    Verb("sparse.multiply", multiply, explain=explain_prepared(multiply)),
    Verb("sparse.parts", parts, results=(Parts,)),
    Verb("sparse.sddmm", sddmm, explain=explain_prepared(sddmm)),
    Verb("sparse.sum", sum, explain=explain_prepared(sum)),
    Verb("sparse.to_dense", to_dense, explain=explain_prepared(to_dense)),
    Verb("sparse.transpose", transpose, explain=explain_prepared(transpose)),
    Verb("sparse.validate", validate),
)
