"""A JSON-RPC error that a server responded with, in words."""

from collections.abc import Iterable

from thrall_py.errors import InputNeededError, JsonRpcError
from thrall_py.protocol import mcp
from thrall_py.protocol.jsontext import decode
from thrall_py.redact import Redactor

_URLS_SHOWN = 3
_DATA_SHOWN = 500  # characters of an error's data


def refused(
    error: mcp.ErrorObject, stage: str, redact: Redactor, modes: Iterable[str] = ()
) -> JsonRpcError | InputNeededError:
    """Make the failure of a request that got `error` at `stage`: its code, words and data.

    `modes` are those of elicitation that were declared; another one that it lacks can be given.
    """
    message = redact.quoted(error.message) if error.message else ""
    if error.code == mcp.URL_ELICITATION_REQUIRED:
        from thrall_py.protocol import elicitation

        urls = ", ".join(elicitation.address(url, redact) for url in error.urls[:_URLS_SHOWN])
        wanted = "the server wants a page visited before the call"
        return InputNeededError(f"{wanted}: {urls or message}")
    missing = error.wanted_modes.difference(modes)
    if missing:
        from thrall_py.protocol import elicitation

        says = f": {message}" if message else ""
        return InputNeededError(
            "the server needs input that was not given, and nobody can be asked:"
            f" it refused {stage} with error {error.code}{says}{elicitation.hint(missing)}"
        )
    code = "without a code" if error.code is None else redact.plain(str(error.code))
    sentence = f"the server refused {stage} with error {code}"
    sentence += f": {message}" if message else ""
    if error.data:
        sentence += f", data {redact.plain(decode(error.data.text), _DATA_SHOWN)}"
    return JsonRpcError(sentence, error.code)
