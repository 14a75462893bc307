"""Export functions to ONNX, StableHLO, torch.export, TorchScript or TensorRT files.

`exporting` has `export`, which calls `writing`. A `request` is the function and its examples; `exporters` has the
exporters of the libraries; `comparison` compares each file with the function, at the arguments of `samples`; `exported`
and `report` have the results for users.
"""

from xarrayops._ops.export.explain import explain_export
from xarrayops._ops.export.exported import Exported
from xarrayops._ops.export.exporting import export
from xarrayops._ops.export.report import ExportReport
from xarrayops._ops.verb import Verb

VERBS = (Verb("export", export, hook="exporters", explain=explain_export, results=(Exported, ExportReport)),)
