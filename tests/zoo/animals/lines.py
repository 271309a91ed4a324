"""What stands on stdout beside, around and instead of one message a line."""

import json
import time

from .osutil import setting, write_all
from .server import Server, animal, answering, encode, replacing, text_result

NOISE = (
    b"Listening on stdio",
    b"(node:7) DeprecationWarning: giraffes are deprecated",
    b"",
    b'{"level":30,"msg":"ready"}',
    b'{"jsonrpc":"2.0"}',
    b"[1,2,3]",
    b"null",
    b"17",
    b'"ready"',
    b"{",
    b"}]",
    "gr\u00fc\u00dfe \u2713".encode(),
    b"\xff\xfe\xfd",
)


class Wrapped(Server):
    """Sends each message with something before and after it."""

    before = b""
    after = b"\n"

    def send(self, message):
        write_all(self.before + encode(message) + self.after)


@animal
class Noise(Wrapped):
    """Banners, warnings, bytes and stray JSON around each message."""

    before = b"\n".join(NOISE) + b"\n"
    after = b"\nrequest served\n"

    def at_eof(self):
        write_all(b"Goodbye!\n")


@animal
class Ansi(Wrapped):
    """Colours, a window title and a progress bar around each message."""

    before = b"\x1b[32mINFO\x1b[0m handling\n\r[>  ] 3%\r[>>>] 98%\x1b[K\n\x1b]0;owned\x07\n"


@animal
class Crlf(Wrapped):
    """CR LF ends each line."""

    after = b"\r\n"


@animal
class CrOnly(Wrapped):
    """CR alone ends each line."""

    after = b"\r"


@animal
class Padded(Wrapped):
    """Blanks and tabs around each message."""

    before = b" \t  "
    after = b"\t \r\n"


@animal
class ContentLength(Wrapped):
    """The framing of the language server protocol."""

    after = b""

    def send(self, message):
        body = encode(message)
        write_all(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))


@animal
class BomEveryLine(Wrapped):
    """A byte order mark before each line."""

    before = b"\xef\xbb\xbf"


@animal
class NulNoise(Wrapped):
    """A line of NUL bytes before each message."""

    before = bytes(64) + b"\n"


@animal
class BlankFlood(Wrapped):
    """20,000 blank lines before each message."""

    before = b"\n" * 10_000 + b" \r\n" * 10_000


@animal
class LongNoise(Wrapped):
    """A line of 5 MB that means nothing before each message."""

    @property
    def before(self):
        return b"." * 5_000_000 + b"\n"


@replacing("at_start")
def bom(_server):
    """A byte order mark before the first byte."""
    write_all(b"\xef\xbb\xbf")


@replacing("at_start")
def two_boms(_server):
    """Two byte order marks before the first byte."""
    write_all(b"\xef\xbb\xbf" * 2)


@replacing("send")
def utf16(_server, message):
    """UTF-16 instead of UTF-8."""
    write_all((json.dumps(message) + "\n").encode("utf-16"))


@replacing("handle")
def echo_back(server, _message):
    """Sends back each line that it reads, as cat does."""
    write_all(server.line + b"\n")


@answering
def pretty(_server, request):
    """The answer is printed prettily, over many lines."""
    answer = {"jsonrpc": "2.0", "id": request["id"], "result": text_result("pretty")}
    write_all(json.dumps(answer, indent=2).encode() + b"\n")


@answering
def log_echo(server, request):
    """A log line that quotes the answer comes before the answer."""
    quoted = {"jsonrpc": "2.0", "id": request["id"], "result": text_result("quoted")}
    write_all(b"DEBUG sending " + encode(quoted) + b"\n")
    server.reply(request, text_result("sent"))


@answering
def id_noise(server, request):
    """A structured log line that happens to have our id comes before the answer."""
    write_all(encode({"level": "info", "id": request["id"], "msg": "request served"}) + b"\n")
    server.reply(request, text_result("sent"))


def flood(line):
    while True:
        write_all(line * 1000)


@replacing("at_start")
def flood_at_start(_server):
    """Short lines without end or pause, as yes prints them; nothing is read."""
    flood(b"y\n")


@answering
def noise_flood(_server, _request):
    """Short lines without end or pause instead of the answer."""
    flood(b"still working\n")


@answering
def note_flood(_server, _request):
    """Notifications without end or pause instead of the answer."""
    flood(encode({"jsonrpc": "2.0", "method": "notifications/message", "params": {}}) + b"\n")


@answering
def answer_then_flood(server, request):
    """The answer, and short lines without end or pause behind it."""
    server.reply(request, text_result("before it"))
    flood(b"y\n")


@answering
def chatter(_server, _request):
    """Short lines that mean nothing, without end."""
    for number in range(1_000_000):
        write_all(b"still working \x1b[3%dm*\x1b[0m\n" % (number % 8))
        time.sleep(0.001)


def line_instead(name, about, make):
    """Enter a server whose answer is a line made from the good one."""

    def answer(_server, request):
        good = {"jsonrpc": "2.0", "id": request["id"], "result": text_result("sent")}
        write_all(make(encode(good)) + b"\n")

    answer.__name__, answer.__doc__ = name, about
    answering(answer)


line_instead("nul_prefix", "The answer with NUL bytes before it.", lambda line: b"\0\0\0" + line)
line_instead("trailing_words", "Words behind the answer.", lambda line: line + b" # sent")
line_instead("two_in_one_line", "Two answers on one line.", lambda line: line + line)
line_instead(
    "raw_newline", "A raw newline in a string.", lambda line: line.replace(b"sent", b"se\nnt")
)
line_instead("trailing_comma", "A comma too many.", lambda line: line[:-1] + b",}")
line_instead(
    "python_repr", "The answer as Python shows it.", lambda line: repr(json.loads(line)).encode()
)


@answering
def pieces_of_two(server, request):
    """A notification is cut by the answer, which is complete."""
    write_all(b'{"jsonrpc":"2.0","method":"notifi\n')
    time.sleep(setting("DELAY", 0.1))
    server.reply(request, text_result("sent"))
