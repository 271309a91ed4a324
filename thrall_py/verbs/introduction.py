"""What a server says of itself when a session opens, and what of it clients will stumble over.

The result of `initialize` has `serverInfo` with a name and a version, and `capabilities`, an object
(2025-11-25, "Lifecycle", "Initialization"; so in all revisions before). That of `server/discover`
has `capabilities`, and should have `serverInfo` in its `_meta` (2026-07-28, "Discovery").
"""

from collections.abc import Iterator

from thrall_py.output import checkup
from thrall_py.output.checkup import Check
from thrall_py.protocol import mcp, wire
from thrall_py.protocol.jsontext import Json, Value
from thrall_py.protocol.session import Session
from thrall_py.visible import hidden_characters

_MOST_CAPABILITIES = 8  # that are named
_NAME = 40  # characters of a name
_LONG = 200  # characters; hosts show a name in a line


def check(session: Session, said: Value | None) -> Check:
    """Make the check of a handshake that succeeded.

    Args:
        session: the session, open.
        said: the result that opened it; None if nothing is known of it.

    """
    revision, name, version, _, capabilities = session.server
    names = sorted(session.redact.plain(each, _NAME) for each in capabilities)
    shown = [session.redact.plain(each, _NAME) for each in (revision, name, version) if each]
    words = f"{' '.join(shown)}, with {', '.join(names[:_MOST_CAPABILITIES]) or 'no capabilities'}"
    odd = list(_oddities(said, is_modern=session.server.is_modern)) if said else []
    if not odd:
        return checkup.ok("handshake", words)
    advice = "answer with capabilities, an object, and with serverInfo: a plain name and a version"
    return checkup.warned("handshake", f"{words}; {'; '.join(odd)}", advice)


def _oddities(said: Value, *, is_modern: bool) -> Iterator[str]:
    info = wire.load_or_none(mcp.server_info(said))
    if isinstance(info, dict):
        yield from _oddities_of(info)
    elif info is not None or not is_modern:
        yield "serverInfo is missing, or no object"
    capabilities = wire.load_or_none(said.member("capabilities"))
    if not isinstance(capabilities, dict):
        yield "capabilities are missing, or no object"
    elif any(hidden_characters(name) or len(name) > _LONG for name in capabilities):
        yield "a capability has a name that is long, or not all visible"


def _oddities_of(info: dict[str, Json]) -> Iterator[str]:
    for member in ("name", "version"):
        value = info.get(member)
        if not isinstance(value, str) or not value:
            yield f"serverInfo has no {member}"
        elif len(value) > _LONG:
            yield f"its {member} has {len(value)} characters"
        elif hidden_characters(value) or "\n" in value or "\t" in value:
            yield f"not all of its {member} is visible"
