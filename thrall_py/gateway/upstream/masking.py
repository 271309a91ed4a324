"""An error of a server without the secrets that we gave it, for a client that has none of them."""

from thrall_py.gateway.core import envelope
from thrall_py.protocol import wire
from thrall_py.protocol.jsontext import JsonError, decode, scan
from thrall_py.redact import Redactor

_UNREPEATABLE = "the server's error is made of a secret that it was given, so it is not repeated"


def masked(message: wire.Message, redact: Redactor) -> wire.Message:
    """Mask the secrets in an error, in its data as well; without any it stays to the letter.

    A result passes as it is: what a tool tells is the client's, and a mask could change its sense.
    """
    if message.error is None:
        return message
    text = decode(message.error.text)
    shown = redact.mask(text)
    if shown == text:
        return message
    try:
        return message._replace(error=scan(shown.encode().decode("latin-1"), {}))
    except JsonError:  # it was no part of a string: a number, or across several
        error = f'{{"code":{envelope.INTERNAL_ERROR},"message":"{_UNREPEATABLE}"}}'
        return message._replace(error=scan(error, {}))
