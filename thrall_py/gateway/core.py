"""Maps a client's request to what is answered, or to what is asked upstream. Pure."""

from typing import NamedTuple

from thrall_py.gateway.caller import Facts


class Answer(NamedTuple):
    """An outcome: a `"result"` or an `"error"` member as JSON text.

    Attributes:
        outcome: the member.
        facts: what the client is from now on, if the request said so (a handshake, a log level).

    """

    outcome: str
    facts: Facts | None = None


class Forward(NamedTuple):
    """A request that a server has to answer.

    Attributes:
        server: its name in the catalog.
        method: tools/call, prompts/get, resources/read or completion/complete.
        name: of the tool, as its server calls it; empty for other methods.
        members: the members of the params as JSON text, without braces, `_meta`, `inputResponses` and
            `requestState`: those are the relay's.

    """

    server: str
    method: str
    name: str
    members: str
