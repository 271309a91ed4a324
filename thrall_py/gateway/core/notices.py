"""What of a server's notification is looked into, and who wants a log message. Pure."""

from thrall_py.gateway.core.envelope import LEVELS
from thrall_py.protocol.jsontext import JsonError, Value, scan

_LARGEST = 1 << 20  # bytes of a notification that is looked into


def look_into(params: Value | None) -> Value | None:
    """Look into the params of a notification; None if they are no object, or too large for one."""
    if params is None or params.first != "{" or params.end - params.start > _LARGEST:
        return None
    try:
        return scan(params.text, {})
    except JsonError:
        return None


def is_wanted(params: Value, log_level: str) -> bool:
    """Tell whether a log message is as severe as a client wants; one without a level is not.

    Args:
        params: of the message, looked into.
        log_level: the least severe level that is wanted; empty for none.

    """
    level = params.member_string("level")
    return bool(log_level) and level in LEVELS and severity(level) >= severity(log_level)


def severity(level: str) -> int:
    """Rank a log level ("Logging", all revisions); what is none ranks above all of them."""
    return LEVELS.index(level) if level in LEVELS else len(LEVELS)
