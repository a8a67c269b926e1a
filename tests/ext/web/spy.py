"""Stands for a browser: writes down what it was told to open."""

import sys
from pathlib import Path

Path(sys.argv[1]).write_text(f"{sys.argv[2]}\n")
