"""``python -m xarrayops``: the command ``xarrayops``, the doctor if no command is named."""

import sys

from xarrayops._cli.commands import main

if __name__ == "__main__":
    sys.exit(main())
