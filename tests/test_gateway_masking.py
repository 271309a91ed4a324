"""Errors of servers without the secrets they were given."""

import pytest

from thrall_py.gateway.upstream.masking import masked
from thrall_py.protocol import mcp, wire
from thrall_py.redact import Redactor

REDACT = Redactor(["hunter-222", "12345678"])


def answer(members):
    (message,) = wire.read(f'{{"id":1,{members}}}'.encode())
    return message


@pytest.mark.parametrize(
    ("error", "shown"),
    [
        ('{"code":-3,"message":"é hunter-222"}', '{"code":-3,"message":"é ***"}'),
        (
            '{"code":-3,"message":"x","data":["hunter\\u002d222"]}',
            '{"code":-3,"message":"x","data":["***"]}',
        ),
        ('{ "code":-3.0,"message":"hunter"}', '{ "code":-3.0,"message":"hunter"}'),
    ],
    ids=["message", "data", "no secret"],
)
def test_secrets_are_masked_where_they_stand_and_the_rest_stays_to_the_letter(error, shown):
    message = masked(answer(f'"error":{error}'), REDACT)
    assert message.error.text.encode("latin-1").decode() == shown


def test_an_error_that_is_none_without_the_secret_is_not_repeated():
    message = masked(answer('"error":{"code":12345678,"message":"x"}'), REDACT)
    error = mcp.parse_error(message.error)
    assert error.code == -32603
    assert error.message.startswith("the server's error is made of a secret")


def test_a_result_passes_as_it_is():
    message = answer('"result":{"content":"hunter-222"}')
    assert masked(message, REDACT) is message
