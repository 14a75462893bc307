"""Compiled functions: `jit`, and the branches and loops that compilers can trace.

`decorator` has `jit`. `programs` finds or makes the program of each signature (`signature`, `captured`, `tokens`) with
a library (`compilers`), and checks it (`xarrayops._ops.agreement`). `ledger` has the times that decide when to compile,
and reports them to users. `control_flow` has the branches and loops.
"""

from xarrayops._ops.compilation.compilers import explain_jit
from xarrayops._ops.compilation.control_flow import cond, scan, while_loop
from xarrayops._ops.compilation.decorator import jit
from xarrayops._ops.verb import Verb

VERBS = (
    Verb("cond", cond, hook="cond"),
    Verb("jit", jit, hook="compiled", explain=explain_jit),
    Verb("scan", scan, hook="scan"),
    Verb("while_loop", while_loop, hook="while_loop"),
)
