"""Arguments against a pinned inputSchema, by jsonschema-rs: only where it is asked for.

Nothing is fetched: a schema that refers to an address is refused. Values are not repeated, only
the places where they stand.
"""

import json
from collections.abc import Iterator
from decimal import Decimal

from thrall_py.catalog.entry import PinnedItem
from thrall_py.errors import InputError, UsageError
from thrall_py.protocol import canonical
from thrall_py.protocol.jsontext import Json
from thrall_py.visible import visible

_SHOWN = 300  # characters of a fault
_REFUSALS = (ValueError, RecursionError)  # of what is nested too deeply, or no text


def find_faults(item: PinnedItem, arguments: str) -> Iterator[str]:
    """Find what is wrong with the JSON text of arguments for a tool; a sentence for each fault.

    Raises:
        UsageError: jsonschema-rs is not installed.
        InputError: the schema, or a text in the arguments, is of no use for it.

    """
    try:
        import jsonschema_rs
    except ImportError:
        raise UsageError(
            "--validate needs jsonschema-rs, which thrall-py[validate] brings: install that as"
            " thrall was installed, as in pipx install --force 'thrall-py[validate]'"
        ) from None
    try:
        schema = _exactly(canonical.compact(item.definition.get("inputSchema")))
        known = schema if isinstance(schema, dict | bool) else True
        validator = jsonschema_rs.validator_for(known, offline=True, mask="this")
    except jsonschema_rs.ValidationError as problem:
        raise _useless("the pinned inputSchema", problem.message) from None
    except _REFUSALS as problem:
        raise _useless("the pinned inputSchema", str(problem)) from None
    try:
        for fault in validator.iter_errors(_exactly(arguments)):
            place = "/".join(str(step) for step in fault.instance_path)
            yield visible(f"{place or 'the arguments'}: {fault.message}"[:_SHOWN])
    except _REFUSALS as problem:
        raise _useless("the input", str(problem)) from None


def _useless(what: str, why: str) -> InputError:
    return InputError(f"{what} cannot be used to validate: {visible(why[:_SHOWN])}")


def _exactly(text: str) -> Json:
    """The value of a JSON text, every number as it is written."""
    value: Json = json.loads(text, parse_float=Decimal)
    return value
