"""``python -m xarrayops``: the doctor."""

import sys

from xarrayops._cli.doctor import main

if __name__ == "__main__":
    sys.exit(main())
