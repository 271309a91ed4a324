"""Read a file and scan its JSON; without a file, only get ready to.

python -I -S scan.py [FILE]
"""
# ruff: noqa: INP001 - a script

import json
import sys

for name in sys.argv[1:]:
    with open(name, encoding="utf-8") as file:
        json.load(file)
