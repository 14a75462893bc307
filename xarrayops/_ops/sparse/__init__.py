"""Sparse matrices: containers stay native; one contract over their formats and libraries."""

from xarrayops import standard
from xarrayops._ops.sparse import build, convert, explain, operations
from xarrayops._ops.verb import Verb
from xarrayops._protocol.sparse import Parts

VERBS = (
    Verb("matmul", standard.matmul, explain=explain.explain_matmul),
    Verb("sparse.add", operations.add, explain=explain.explain_prepared(operations.add)),
    Verb("sparse.convert", convert.convert, explain=explain.explain_sparse_convert),
    Verb("sparse.from_dense", build.from_dense, explain=explain.explain_prepared(build.from_dense)),
    Verb("sparse.from_parts", build.from_parts),
    Verb("sparse.multiply", operations.multiply, explain=explain.explain_prepared(operations.multiply)),
    Verb("sparse.parts", build.parts, results=(Parts,)),
    Verb("sparse.sddmm", operations.sddmm, explain=explain.explain_prepared(operations.sddmm)),
    Verb("sparse.sum", operations.sum, explain=explain.explain_prepared(operations.sum)),
    Verb("sparse.to_dense", build.to_dense, explain=explain.explain_prepared(build.to_dense)),
    Verb("sparse.transpose", operations.transpose, explain=explain.explain_prepared(operations.transpose)),
    Verb("sparse.validate", build.validate),
)
