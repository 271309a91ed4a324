"""Bytes, characters, numbers and sizes."""

import time

from .osutil import linger, setting, write_all
from .server import Server, animal, answering, encode, text_result

MIB = 1 << 20


@animal
class Partial(Server):
    """Each message in pieces of 7 bytes."""

    def send(self, message):
        data = encode(message) + b"\n"
        for start in range(0, len(data), 7):
            write_all(data[start : start + 7])
            time.sleep(0.002)


@answering
def drip(_server, request):
    """The answer byte by byte, characters of several bytes included."""
    result = text_result("dr\u00f6p \u2713 \U0001f9ac")
    for byte in encode({"jsonrpc": "2.0", "id": request["id"], "result": result}) + b"\n":
        write_all(bytes([byte]))
        time.sleep(setting("DELAY", 0.005))


@answering
def drip_endless(_server, request):
    """Byte by byte, an answer that never ends."""
    write_all(b'{"jsonrpc":"2.0","id":%s,"result":{"content":[],"x":"' % encode(request["id"]))
    while True:
        write_all(b".")
        time.sleep(0.01)


@answering
def coalesced(_server, request):
    """A notification and the answer in a single write."""
    note = {
        "jsonrpc": "2.0",
        "method": "notifications/message",
        "params": {"level": "info", "data": 1},
    }
    answer = {"jsonrpc": "2.0", "id": request["id"], "result": text_result("together")}
    write_all(encode(note) + b"\n" + encode(answer) + b"\n")


@answering
def long_line(server, request):
    """An answer of 20 MB (ZOO_SIZE)."""
    server.reply(request, text_result("x" * setting("SIZE", 20 * MIB)))


@answering
def endless_line(_server, _request):
    """1 GiB without a newline (ZOO_SIZE)."""
    for _ in range(setting("SIZE", 1024 * MIB) // 65536):
        write_all(b"x" * 65536)
    linger()


@answering
def u2028(server, request):
    """Characters that Python takes for line ends, raw inside a string."""
    server.reply(request, text_result("a\u2028b\u2029c\u0085d"))


@answering
def lone_surrogate(server, request):
    """Half a surrogate pair as an escape."""
    server.reply_raw(request, b'{"content":[{"type":"text","text":"half \\ud83e bird"}]}')


@answering
def nul(server, request):
    """Control characters as escapes, and one raw from the second block."""
    server.reply(request, text_result("a\0b\ac\x1b[31mred\x9b2Jd"))


@answering
def latin1(server, request):
    """A Latin-1 byte in the text."""
    server.reply_raw(request, b'{"content":[{"type":"text","text":"caf\xe9"}]}')


@answering
def latin1_before_id(_server, request):
    """A Latin-1 byte in the text, and the id behind it."""
    result = b'{"content":[{"type":"text","text":"caf\xe9"}]}'
    write_all(b'{"result":%s,"jsonrpc":"2.0","id":%s}\n' % (result, encode(request["id"])))


@answering
def surrogate_bytes(server, request):
    """A surrogate encoded as three bytes, which UTF-8 forbids."""
    server.reply_raw(request, b'{"content":[{"type":"text","text":"\xed\xa0\xbe"}]}')


@answering
def nan(server, request):
    """NaN and Infinity."""
    server.reply_raw(request, b'{"content":[],"structuredContent":{"a":NaN,"b":-Infinity}}')


@answering
def nan_before_id(_server, request):
    """NaN, and the id behind it."""
    result = b'{"content":[],"structuredContent":{"a":NaN}}'
    write_all(b'{"result":%s, "jsonrpc":"2.0", "id" : %s}\n' % (result, encode(request["id"])))


@answering
def bad_escape(server, request):
    """A backslash that escapes nothing, as in a path of Windows."""
    server.reply_raw(request, b'{"content":[{"type":"text","text":"C:\\Users\\zoo"}]}')


@answering
def deep(server, request):
    """100,000 arrays in each other (ZOO_SIZE)."""
    depth = setting("SIZE", 100_000)
    nested = b"[" * depth + b"]" * depth
    server.reply_raw(request, b'{"content":[],"structuredContent":%s}' % nested)


@answering
def dup_keys(server, request):
    """isError twice: false, then true."""
    content = b'"content":[{"type":"text","text":"twice"}]'
    server.reply_raw(request, b'{%s,"isError":false,"isError":true}' % content)


@answering
def dup_result(_server, request):
    """Two results in one answer."""
    one = encode(text_result("one"))
    two = encode(text_result("two"))
    identifier = encode(request["id"])
    write_all(b'{"jsonrpc":"2.0","id":%s,"result":%s,"result":%s}\n' % (identifier, one, two))


@answering
def dup_id(_server, request):
    """Two ids in one answer, ours last."""
    result = encode(text_result("whose?"))
    write_all(b'{"jsonrpc":"2.0","id":990,"result":%s,"id":%s}\n' % (result, encode(request["id"])))


@answering
def escaped_keys(_server, request):
    """The keys of the answer are written with escapes."""
    keys = [b"jsonrpc", b"id", b"result"]
    jsonrpc, identifier, result = (b"".join(b"\\u%04x" % byte for byte in key) for key in keys)
    values = (
        jsonrpc,
        identifier,
        encode(request["id"]),
        result,
        encode(text_result("spelled out")),
    )
    write_all(b'{"%s":"2.0","%s":%s,"%s":%s}\n' % values)


@answering
def big_numbers(server, request):
    """Numbers that a float does not hold, and several spellings."""
    server.reply_raw(
        request,
        b'{"content":[],"structuredContent":{"id":9007199254740993,"huge":12345678901234567890123,'
        b'"one":1,"float":1.0,"zero":-0.0,"small":1e-7,"vast":1e400,'
        b'"digits":0.1000000000000000055511151231257827}}',
    )


@answering
def long_number(server, request):
    """A number of 100,000 digits."""
    digits = b"7" * 100_000
    server.reply_raw(request, b'{"content":[],"structuredContent":{"n":%s}}' % digits)
