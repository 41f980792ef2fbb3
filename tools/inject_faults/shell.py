"""The command line as its own process, as its console script is."""

import sys

from calibrant.cli import main

if __name__ == "__main__":
    sys.exit(main())
