"""Layouts: what they are, and arrays brought into another one."""

from xarrayops._ops.layout.explain import (
    explain_as_strided,
    explain_contiguous,
    explain_pin_memory,
    explain_relayout,
    explain_with_memory_format,
)
from xarrayops._ops.layout.layout import Layout, as_strided, contiguous, layout_of, pin_memory, with_memory_format
from xarrayops._ops.layout.relayout import relayout
from xarrayops._ops.verb import Verb

VERBS = (
    Verb("as_strided", as_strided, hook="as_strided", explain=explain_as_strided),
    Verb("contiguous", contiguous, hook="contiguous", explain=explain_contiguous),
    Verb("layout_of", layout_of, results=(Layout,)),
    Verb("pin_memory", pin_memory, hook="pin_memory", explain=explain_pin_memory),
    Verb("relayout", relayout, explain=explain_relayout),
    Verb("with_memory_format", with_memory_format, explain=explain_with_memory_format),
)
