"""Sparse matrices: native containers, with one contract for all formats and libraries."""

from xarrayops._ops.sparse import build, convert, elementwise, functions, operands, operations, reductions
from xarrayops._ops.verb import Verb
from xarrayops.plugin.sparse import Parts

VERBS = (
    Verb("sparse.abs", elementwise.abs, explain=operands.explain_prepared(elementwise.abs)),
    Verb("sparse.add", operations.add, explain=operands.explain_prepared(operations.add)),
    Verb("sparse.astype", functions.astype, explain=operands.explain_prepared(functions.astype)),
    Verb("sparse.concat", functions.concat, explain=operands.explain_prepared(functions.concat)),
    Verb("sparse.convert", convert.convert, explain=convert.explain_sparse_convert),
    Verb("sparse.count", reductions.count, explain=operands.explain_prepared(reductions.count)),
    Verb("sparse.diagonal", functions.diagonal, explain=operands.explain_prepared(functions.diagonal)),
    Verb("sparse.divide", operations.divide, explain=operands.explain_prepared(operations.divide)),
    Verb("sparse.expm1", elementwise.expm1, explain=operands.explain_prepared(elementwise.expm1)),
    Verb("sparse.from_dense", build.from_dense, explain=operands.explain_prepared(build.from_dense)),
    Verb("sparse.from_parts", build.from_parts),
    Verb("sparse.log1p", elementwise.log1p, explain=operands.explain_prepared(elementwise.log1p)),
    Verb("sparse.maximum", elementwise.maximum, explain=operands.explain_prepared(elementwise.maximum)),
    Verb("sparse.mean", reductions.mean, explain=operands.explain_prepared(reductions.mean)),
    Verb("sparse.multiply", operations.multiply, explain=operands.explain_prepared(operations.multiply)),
    Verb("sparse.negative", elementwise.negative, explain=operands.explain_prepared(elementwise.negative)),
    Verb("sparse.norm", reductions.norm, explain=operands.explain_prepared(reductions.norm)),
    Verb("sparse.parts", build.parts, results=(Parts,)),
    Verb("sparse.power", elementwise.power, explain=operands.explain_prepared(elementwise.power)),
    Verb("sparse.scale", functions.scale, explain=operands.explain_prepared(functions.scale)),
    Verb("sparse.sddmm", operations.sddmm, explain=operands.explain_prepared(operations.sddmm)),
    Verb("sparse.sign", elementwise.sign, explain=operands.explain_prepared(elementwise.sign)),
    Verb("sparse.sin", elementwise.sin, explain=operands.explain_prepared(elementwise.sin)),
    Verb("sparse.sqrt", elementwise.sqrt, explain=operands.explain_prepared(elementwise.sqrt)),
    Verb("sparse.square", elementwise.square, explain=operands.explain_prepared(elementwise.square)),
    Verb("sparse.subtract", operations.subtract, explain=operands.explain_prepared(operations.subtract)),
    Verb("sparse.sum", reductions.sum, explain=operands.explain_prepared(reductions.sum)),
    Verb("sparse.take", functions.take, explain=operands.explain_prepared(functions.take)),
    Verb("sparse.tan", elementwise.tan, explain=operands.explain_prepared(elementwise.tan)),
    Verb("sparse.tanh", elementwise.tanh, explain=operands.explain_prepared(elementwise.tanh)),
    Verb("sparse.to_dense", build.to_dense, explain=operands.explain_prepared(build.to_dense)),
    Verb("sparse.topk", functions.topk, explain=operands.explain_prepared(functions.topk)),
    Verb("sparse.transpose", operations.transpose, explain=operands.explain_prepared(operations.transpose)),
    Verb("sparse.validate", build.validate),
)
