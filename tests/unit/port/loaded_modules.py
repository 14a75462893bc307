"""What a run of a program must leave as it was."""

import sys


def process(folder):
    """The import path of this process, and the names of its modules that a folder has.

    Modules of packages are left out: the first run of a process loads some of them.
    """
    files = ((name, getattr(module, "__file__", None)) for name, module in list(sys.modules.items()))
    return list(sys.path), {name for name, file in files if file and str(file).startswith(str(folder))}
