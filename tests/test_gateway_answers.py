"""What a client answers to a server's question, on its way back."""

import asyncio

from thrall_py.gateway.upstream.pausing import Pausing
from thrall_py.gateway.upstream.questions import Questions
from thrall_py.protocol import wire


class Listener:
    """Answers as a client's message says it: in Latin-1, a character for each byte."""

    client = "c"

    async def asked(self, _method, _params):
        return '"result":{"name":"é→"}'.encode().decode("latin-1")


def test_an_answer_reaches_the_server_in_the_letters_that_the_client_wrote():
    replies = []

    async def ask():
        questions = Questions(lambda id_, outcome: replies.append(wire.reply(id_, outcome)))
        [asked] = wire.read(b'{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{}}')
        async with Pausing(10) as clock:
            questions.take(asked, Listener(), [clock])
            while not replies:  # noqa: ASYNC110 - there is no event for it
                await asyncio.sleep(0)

    asyncio.run(ask())
    assert replies == ['{"jsonrpc":"2.0","id":1,"result":{"name":"é→"}}\n'.encode()]
