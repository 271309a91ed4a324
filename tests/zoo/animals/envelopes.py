"""Ids, arrays, and what a response may look like."""

from .osutil import write_all
from .server import Server, animal, answering, encode, text_result, variant

HOSTILE = "no\x1b]0;owned\x07\n\rthrall: echo: fine\u202e\u2066\u200d\ufeff\U000e0042 \x9b31m"


class OtherIds(Server):
    """Changes the id of each response."""

    def other_id(self, identifier):
        return identifier

    def send(self, message):
        identifier = message.get("id")
        if "method" not in message and isinstance(identifier, int):
            message = {**message, "id": self.other_id(identifier)}
        super().send(message)


@animal
class StringId(OtherIds):
    """Numbers come back as strings."""

    def other_id(self, identifier):
        return str(identifier)


@animal
class FloatId(OtherIds):
    """3 comes back as 3.0."""

    def other_id(self, identifier):
        return float(identifier)


@animal
class ExponentId(Server):
    """3 comes back as 30e-1."""

    def send(self, message):
        line = encode(message)
        if isinstance(message.get("id"), int):
            new = b'"id":%d0e-1,' % message["id"]
            line = line.replace(b'"id":%d,' % message["id"], new, 1)
        write_all(line + b"\n")


@animal
class IdZero(Server):
    """Every response has the id 0."""

    def send(self, message):
        super().send({**message, "id": 0} if "id" in message else message)


@animal
class IdOff(OtherIds):
    """The id of each response is one too high."""

    def other_id(self, identifier):
        return identifier + 1


@animal
class IdTrue(OtherIds):
    """The id of each response is true."""

    def other_id(self, _identifier):
        return True


@answering
def null_id_error(server, _request):
    """The call is refused with the id null."""
    error = {"code": -32700, "message": "could not read the request"}
    server.send({"jsonrpc": "2.0", "id": None, "error": error})


@answering
def no_id_error(server, _request):
    """The call is refused without an id."""
    server.send(
        {"jsonrpc": "2.0", "error": {"code": -32700, "message": "could not read the request"}}
    )


@answering
def null_id_result(server, _request):
    """The call is answered with the id null."""
    server.send({"jsonrpc": "2.0", "id": None, "result": text_result("whose?")})


@animal
class OutOfOrder(Server):
    """Answers to others, and to a request that was answered, come first."""

    first = None

    def handle(self, message):
        self.first = self.first or message.get("id")
        super().handle(message)

    def answer(self, request):
        self.send({"jsonrpc": "2.0", "id": 987654, "result": text_result("not yours")})
        self.send({"jsonrpc": "2.0", "id": self.first, "result": text_result("late")})
        self.send({"jsonrpc": "2.0", "id": 987655, "error": {"code": -1, "message": "not yours"}})
        self.reply(request, text_result("mine"))


@answering
def foreign_answer(server, _request):
    """Only somebody else's answer comes."""
    server.send({"jsonrpc": "2.0", "id": 987654, "result": text_result("not yours")})


@answering
def dup_answer(server, request):
    """The call is answered twice, differently."""
    server.reply(request, text_result("first"))
    server.reply(request, text_result("second", isError=True))


def enveloped(name, about, **members):
    """Enter a server whose answer has exactly these members beside its id."""

    def answer(server, request):
        server.send({"jsonrpc": "2.0", "id": request["id"], **members})

    variant(name, about, __name__, answer=answer)


def refusing(name, about, error):
    enveloped(name, about, error=error)


BROKEN = "it broke"
enveloped("neither", "Neither result nor error.")
enveloped(
    "both", "Result and error.", result=text_result("fine"), error={"code": -1, "message": BROKEN}
)
enveloped("error-null", "A result, and null for the error.", result=text_result("fine"), error=None)
enveloped("result-null", "The result is null.", result=None)
enveloped("result-array", "The result is an array.", result=[text_result("fine")])
enveloped("result-text", "The result is a string.", result="fine")
enveloped("result-true", "The result is true.", result=True)
refusing(
    "error-bad-code", "The code is a string.", {"code": "E42", "message": BROKEN, "data": ["x"]}
)
refusing("error-null-code", "The code is null.", {"code": None, "message": BROKEN})
refusing("error-no-code", "There is no code.", {"message": BROKEN})
refusing("error-float-code", "The code is -32000.5.", {"code": -32000.5, "message": BROKEN})
refusing("error-no-words", "There are no words.", {"code": -32050})
refusing("error-odd-words", "The words are an object.", {"code": -32050, "message": {"en": BROKEN}})
refusing("error-text", "The error is a string.", BROKEN)
refusing("error-empty", "The error is {}.", {})
refusing("error-false", "The error is false.", False)
refusing(
    "error-hostile", "Escapes in words and data.", {"code": -1, "message": HOSTILE, "data": HOSTILE}
)
refusing(
    "error-lone-half", "Half a pair in the words.", {"code": -1, "message": "half \ud83e bird"}
)


@answering
def error_endless(server, request):
    """A million words."""
    error = {"code": -1, "message": "word " * 1_000_000, "data": "x" * 99999}
    server.send({"jsonrpc": "2.0", "id": request["id"], "error": error})


@animal
class NoJsonrpc(Server):
    """Responses without the member jsonrpc."""

    def send(self, message):
        super().send({key: value for key, value in message.items() if key != "jsonrpc"})


@animal
class JsonrpcOne(Server):
    """Responses that say jsonrpc 1.0."""

    def send(self, message):
        super().send({**message, "jsonrpc": "1.0"})


@answering
def surplus_members(server, request):
    """An answer with members that nobody knows."""
    result = text_result("fine", vendor={"x": [1]})
    server.send(
        {"jsonrpc": "2.0", "id": request["id"], "result": result, "trace": None, "ok": True}
    )


def batched(name, about, *arrays):
    """Enter a server that sends arrays; a member "answer" is replaced by our answer."""

    def answer(_server, request):
        good = {"jsonrpc": "2.0", "id": request["id"], "result": text_result("batched")}
        for array in arrays:
            filled = [good if entry == "answer" else entry for entry in array]
            write_all(encode(filled) + b"\n")

    variant(name, about, __name__, answer=answer)


NOTE = {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": 1}}
PING = {"jsonrpc": "2.0", "id": "zoo-1", "method": "ping"}
OTHER = {"jsonrpc": "2.0", "id": 987654, "result": {}}
batched("batch", "The answer comes in an array.", ["answer"])
batched(
    "two-batches", "Two arrays, the answer in the second one.", [NOTE, OTHER], [OTHER, "answer"]
)
batched(
    "batch-with-ping",
    "An array with a request of the server and the answer.",
    [PING, NOTE, "answer"],
)
batched(
    "nested-batch",
    "An answer in an array in an array, and not even ours.",
    [[{"jsonrpc": "2.0", "id": 987654, "result": {}}]],
)


@answering
def empty_batch(server, request):
    """An empty array before the answer."""
    write_all(b"[]\n")
    server.reply(request, text_result("after it"))
