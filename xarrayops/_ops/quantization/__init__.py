"""Quantisation: 8-bit integers that represent real numbers, and their products."""

from xarrayops._ops.quantization import qmatmul, quantize, schemes
from xarrayops._ops.verb import Verb

VERBS = (
    Verb("calibrate", quantize.calibrate, results=(schemes.Calibration,)),
    Verb("dequantize", quantize.dequantize),
    Verb("qmatmul", qmatmul.qmatmul, explain=qmatmul.explain_qmatmul),
    Verb("quantize", quantize.quantize, results=(schemes.Quantized,)),
)
