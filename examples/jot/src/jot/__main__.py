"""`python -m jot`."""

import sys

from jot.cli import main

sys.exit(main())
