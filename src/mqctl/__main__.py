"""``python -m mqctl``."""

import sys

from mqctl.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
