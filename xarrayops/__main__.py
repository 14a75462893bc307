"""``python -m xarrayops``: the command ``xarrayops``, which runs the doctor by default."""

import sys

from xarrayops._cli.commands import main

if __name__ == "__main__":
    sys.exit(main())
