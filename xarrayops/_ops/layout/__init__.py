"""Layouts of arrays: inspection and change."""

from xarrayops._ops.layout import explain, layout, relayout
from xarrayops._ops.verb import Verb

VERBS = (
    Verb("as_strided", layout.as_strided, hook="as_strided", explain=explain.explain_as_strided),
    Verb("contiguous", layout.contiguous, hook="contiguous", explain=explain.explain_contiguous),
    Verb("layout_of", layout.layout_of, results=(layout.Layout,)),
    Verb("pin_memory", layout.pin_memory, hook="pin_memory", explain=explain.explain_pin_memory),
    Verb("relayout", relayout.relayout, explain=explain.explain_relayout),
    Verb("with_memory_format", layout.with_memory_format, explain=explain.explain_with_memory_format),
)
