"""Export functions to ONNX, StableHLO, torch.export, TorchScript or TensorRT files.

`exporting` has `export` and the exporters of the libraries. A `request` is the function and its examples;
`comparison` compares each file with the function, at the arguments of `samples`; `exported` has the results for users.
"""

from xarrayops._ops.export.exported import Exported, ExportReport
from xarrayops._ops.export.exporting import explain_export, export
from xarrayops._ops.verb import Verb

VERBS = (Verb("export", export, hook="exporters", explain=explain_export, results=(Exported, ExportReport)),)
