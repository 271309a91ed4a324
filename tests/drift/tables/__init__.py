"""All cases by name."""

from drift.tables import (
    beside,
    inputs,
    later,
    lists,
    members,
    outputs,
    quiet,
    unchecked,
    words,
)

TABLES = (words, inputs, outputs, members, lists, beside, later, quiet, unchecked)
CASES = {name: case for table in TABLES for name, case in table.CASES.items()}
assert len(CASES) == sum(len(table.CASES) for table in TABLES), "a name in two tables"
