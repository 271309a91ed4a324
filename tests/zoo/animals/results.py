"""Results of a call."""

import base64
import os

from .server import answering, replacing, text_result, tool, variant

PNG = b"\x89PNG\r\n\x1a\n" + bytes(16)
PIXEL = base64.b64encode(PNG).decode()
HOSTILE = "x/\x1b[31m\n\r\u202e\u200b\U000e0041y"


def resulting(name, about, **result):
    """Enter a server with this result."""

    def answer(server, request):
        server.reply(request, result)

    variant(name, about, __name__, answer=answer)


def holding(name, about, *content):
    resulting(name, about, content=list(content))


def words(text):
    return {"type": "text", "text": text}


resulting(
    "is-error",
    "isError, and two texts.",
    isError=True,
    content=[words("disk full"), words("try later")],
)
resulting("is-error-null", "isError is null.", **text_result("fine", isError=None))
resulting("is-error-word", 'isError is "true".', **text_result("not fine", isError="true"))
resulting("is-error-number", "isError is 1.", **text_result("not fine", isError=1))
resulting("is-error-silent", "isError, and no content.", content=[], isError=True)
resulting(
    "structured-only", "Only structuredContent.", content=[], structuredContent={"answer": 42}
)
resulting(
    "structured-null",
    "structuredContent is null.",
    **text_result("only text", structuredContent=None),
)
resulting(
    "structured-both",
    "Text and structuredContent.",
    **text_result("words", structuredContent={"a": 1}),
)
resulting("empty-content", "No parts.", content=[])
resulting("no-content", "No content member.")
resulting("content-object", "content is an object.", content=words("fine"))
resulting("content-text", "content is a string.", content="fine")
resulting("content-null", "content is null.", content=None)
holding("empty-text", "One empty text.", words(""))
holding("text-number", "A text that is a number.", words(42))
holding("text-missing", "A text part without its text.", {"type": "text"})
holding("type-missing", "A part without its type.", {"text": "typeless"})
holding("content-stranger", "Parts that are no objects.", words("one"), None, "two", 3, ["four"])
holding(
    "bad-base64",
    "An image that is not base64.",
    {"type": "image", "data": "%%%", "mimeType": "image/png"},
)
holding("data-missing", "An image without data or type.", {"type": "image"})
holding(
    "media",
    "Parts of all kinds, and one that is unknown.",
    words("look"),
    {"type": "image", "data": PIXEL, "mimeType": "image/png"},
    {"type": "audio", "data": PIXEL, "mimeType": "audio/wav"},
    {
        "type": "resource",
        "resource": {"uri": "file:///a.txt", "mimeType": "text/plain", "text": "inside"},
    },
    {
        "type": "resource",
        "resource": {"uri": "file:///a.csv", "mimeType": "text/csv", "blob": PIXEL},
    },
    {"type": "resource_link", "uri": "file:///b", "name": "b"},
    {"type": "hologram", "beam": [1, 2]},
)
holding(
    "hostile-media",
    "Escapes, newlines and bidi in types, names and addresses.",
    {"type": "image", "data": PIXEL, "mimeType": HOSTILE},
    {"type": "resource", "resource": {"uri": "file:///../../" + HOSTILE, "blob": PIXEL}},
    {"type": "resource_link", "uri": HOSTILE, "name": HOSTILE, "mimeType": HOSTILE},
    {"type": HOSTILE},
)
holding(
    "path-media",
    "Types and addresses that are paths.",
    {"type": "image", "data": PIXEL, "mimeType": "image/../../../escaped"},
    {"type": "audio", "data": PIXEL, "mimeType": "/"},
    {
        "type": "resource",
        "resource": {"uri": "file:///tmp/../../escaped", "blob": PIXEL, "mimeType": ".."},
    },
    {"type": "resource", "resource": {"uri": "..", "blob": PIXEL}},
)


def big_picture():
    """Make 5 MB, for one server: in a table they would be made by all of them."""
    return PNG + bytes(range(256)) * 20_000


@answering
def big_image(server, request):
    """An image of 5 MB."""
    data = base64.b64encode(big_picture()).decode()
    image = {"type": "image", "data": data, "mimeType": "image/png"}
    server.reply(request, {"content": [image]})


def typed_tools(_server):
    schema = {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}}
    return [tool("echo", outputSchema=schema)]


@replacing("answer", tools=typed_tools)
def bad_output(server, request):
    """structuredContent that breaks the tool's own schema."""
    server.reply(request, text_result("it did happen", structuredContent={"n": "seven"}))


@answering
def rpc_error(server, request):
    """Refused, with words and data."""
    server.refuse(request, -32602, "arguments.text must not be a giraffe", path=["text"])


@answering
def secret(server, request):
    """Repeats a secret in the error and on stderr (ZOO_SECRET)."""
    value = os.environ.get("ZOO_SECRET", "secret-of-the-zoo")
    server.say("401 from upstream, token was " + value)
    words = f"upstream refused Authorization: Bearer {value}"
    server.refuse(request, -32001, words, headers={"authorization": value})
