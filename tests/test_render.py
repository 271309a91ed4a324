import base64
import json

import pytest

from thrall_py.errors import ServerError
from thrall_py.output import render
from thrall_py.output.render import MediaPart, TextPart
from thrall_py.protocol.jsontext import EACH, latin1, scan

SHAPE = {"content": {EACH: {"resource": {}}}}
PNG = {"type": "image", "mimeType": "image/png", "data": "iVBORw=="}


def rendered(result):
    text = result if isinstance(result, bytes) else json.dumps(result).encode()
    return render.read_result(scan(latin1(text), SHAPE))


def printed(result, saved=None, *, terminal=False):
    return b"".join(rendered(result).lines(saved or {}, terminal=terminal))


def content(*parts, **more):
    return {"content": list(parts), **more}


def text(words):
    return {"type": "text", "text": words}


# -- what is printed ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("result", "out"),
    [
        (content(), b""),
        (content(text("")), b"\n"),
        (content(text("one")), b"one\n"),
        (content(text("one\n"), text("two")), b"one\n\ntwo\n"),
        (content(text("é \ud83d\ude00\x1b\u202e")), "é 😀\x1b\u202e\n".encode()),
        (content(text("\ud800")), b"\\ud800\n"),
        (content(text("x"), structuredContent={"a": 1}), b"x\n"),
        (content(structuredContent={"a": 1}), b'{"a": 1}\n'),
        ({"structuredContent": [1]}, b"[1]\n"),
        ({"structuredContent": None}, b"null\n"),
        (content(PNG, structuredContent=1), b"[image: image/png, 4 bytes]\n1\n"),
        (content(text("x" * 200_000)), b"x" * 200_000 + b"\n"),
    ],
)
def test_text_comes_first_and_structure_in_its_place(result, out):
    assert printed(result) == out


@pytest.mark.parametrize(
    ("part", "line"),
    [
        (PNG, "[image: image/png, 4 bytes]"),
        ({"type": "audio", "data": ""}, "[audio: no media type, 0 bytes]"),
        ({"type": "audio", "data": "QUI="}, "[audio: no media type, 2 bytes]"),
        ({"type": "audio", "data": "QUJD", "mimeType": 7}, "[audio: no media type, 3 bytes]"),
        (
            {"type": "resource_link", "uri": "file:///a", "mimeType": "text/plain", "name": "a"},
            "[resource_link: text/plain, file:///a]",
        ),
        ({"type": "resource_link"}, "[resource_link: no media type]"),
        (
            {"type": "resource", "resource": {"uri": "x:1", "text": "é", "mimeType": "text/html"}},
            "[resource: text/html, 2 bytes, x:1]",
        ),
        ({"type": "resource", "resource": {"blob": "QQ=="}}, "[resource: no media type, 1 bytes]"),
        ({"type": "resource", "resource": {}}, "[resource: no media type]"),
        ({"type": "resource", "resource": {"uri": "x:1"}}, "[resource: no media type, x:1]"),
        ({"type": "resource", "resource": 1}, "[resource: no media type]"),
        ({"type": "resource"}, "[resource: no media type]"),
        ({"type": "image", "data": 1}, "[image: no media type]"),
        ({"type": "image", "data": "Q"}, "[image: no media type, not base64]"),
        ({"type": "new", "x": 1}, "[new: no media type, 23 bytes]"),
        ({"type": "new\x1b", "text": "hi"}, r"[new\x1b: no media type, 2 bytes]"),
        ({"type": "x" * 200, "data": "QUJD"}, f"[{'x' * 120}: no media type, 3 bytes]"),
    ],
)
def test_a_part_that_is_not_text_is_one_line(part, line):
    assert printed(content(part)).decode() == f"{line}\n"


def test_the_size_of_base64_is_that_of_its_content_however_it_is_written():
    result = rb'{"content":[{"type":"image","data":"\/\/8\u003d"}]}'
    (part,) = rendered(result).parts
    assert b"".join(part.decode()) == b"\xff\xff"
    assert printed(result) == b"[image: no media type, 2 bytes]\n"


def test_a_part_that_was_saved_says_where():
    out = printed(content(text("a"), PNG), {1: "here/part-2.png"})
    assert out == b"a\n[image: image/png, 4 bytes, saved as here/part-2.png]\n"


def test_on_a_terminal_nothing_acts():
    result = content(text("a\x1b[2J\n\t\u202eb"), structuredContent={"a": 1})
    assert printed(result, terminal=True) == b"a\\x1b[2J\n\t\\u202eb\n"
    structured = {"structuredContent": {"a\u202e": "\x9b"}}
    raw = json.dumps(structured, ensure_ascii=False).encode()
    assert printed(raw, terminal=True) == b'{"a\\u202e": "\\u009b"}\n'


@pytest.mark.parametrize(
    ("result", "empty"),
    [
        (content(), True),
        (content(text("")), False),
        (content(structuredContent=None), False),
        (content(PNG), False),
    ],
)
def test_an_answer_without_anything_is_empty(result, empty):
    assert rendered(result).is_empty is empty


def test_text_and_what_is_not_text_are_parts_of_two_kinds_in_their_order():
    audio = {"type": "audio", "mimeType": "audio/wav", "data": "QUJD"}
    parts = rendered(content(text("one"), PNG, text("two"), audio)).parts
    assert [type(part) for part in parts] == [TextPart, MediaPart, TextPart, MediaPart]
    assert [part.text.string() for part in parts[::2]] == ["one", "two"]
    assert [(part.kind, part.media_type) for part in parts[1::2]] == [
        ("image", "image/png"),
        ("audio", "audio/wav"),
    ]


@pytest.mark.parametrize(("terminal", "shown"), [(False, b"a\x1b"), (True, b"a\\x1b")])
def test_a_text_part_is_encoded_without_the_newline_behind_it(terminal, shown):
    (part,) = rendered(content(text("a\x1b"))).parts
    assert b"".join(part.encode(terminal=terminal)) == shown


def test_a_media_part_names_its_file_if_there_is_one():
    (part,) = rendered(content(PNG)).parts
    assert part.line() == "[image: image/png, 4 bytes]"
    assert part.line("x.png") == "[image: image/png, 4 bytes, saved as x.png]"


# -- verbatim ----------------------------------------------------------------------------------


@pytest.mark.parametrize("terminal", [False, True])
@pytest.mark.parametrize(
    ("sent", "out"),
    [
        (b'{"a" : 1.0, "b":[1e400,"\\u00e9\\/"]}', b'{"a" : 1.0, "b":[1e400,"\\u00e9\\/"]}\n'),
        ('{"é":"😀"}'.encode(), '{"é":"😀"}\n'.encode()),
        (b'{"a":\r1}', b'{"a": 1}\n'),
    ],
)
def test_a_value_is_written_as_the_server_wrote_it(sent, out, terminal):
    value = scan(latin1(sent), {})
    assert b"".join(render.verbatim(value, terminal=terminal)) == out


def test_a_large_value_is_written_in_slices():
    value = scan('"' + "x" * 2_500_000 + '"', {})
    slices = list(render.verbatim(value, terminal=False))
    assert b"".join(slices) == b'"' + b"x" * 2_500_000 + b'"\n'
    assert max(map(len, slices)) == 1 << 16


# -- what the server says of it ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("more", "is_error"),
    [
        ({}, False),
        ({"isError": False}, False),
        ({"isError": True}, True),
        ({"isError": None}, False),
    ],
)
def test_the_tool_says_whether_it_failed(more, is_error):
    assert rendered(content(**more)).is_error is is_error


@pytest.mark.parametrize(
    ("result", "why"),
    [
        ({}, "content is missing"),
        ({"content": None}, "content is not an array"),
        ({"content": {}}, "content is not an array"),
        ({"content": "text", "structuredContent": 1}, "content is not an array"),
        (content(1), "a part of content has no type"),
        (content({}), "a part of content has no type"),
        (content({"type": 1}), "a part of content has no type"),
        (content({"type": "text"}), "a text part has no text"),
        (content({"type": "text", "text": 1}), "a text part has no text"),
        (content(isError=1), "isError is neither true nor false"),
        (content(isError="true"), "isError is neither true nor false"),
    ],
)
def test_what_is_no_result_is_refused_whole(result, why):
    with pytest.raises(ServerError) as refused:
        rendered(result)
    assert str(refused.value) == (
        f"the server sent a result that cannot be used: {why}; the tool has run"
    )


# -- the content of a part ---------------------------------------------------------------------


def test_a_large_content_is_decoded_piece_by_piece():
    (part,) = rendered(content({"type": "image", "data": "QUJD" * 250_000})).parts
    pieces = list(part.decode())
    assert b"".join(pieces) == b"ABC" * 250_000
    assert max(map(len, pieces)) <= 1 << 16


@pytest.mark.parametrize(
    ("part", "data", "extension"),
    [
        (PNG, b"\x89PNG", ".png"),
        ({**PNG, "mimeType": "IMAGE/PNG"}, b"\x89PNG", ".png"),
        ({**PNG, "mimeType": "image/x-odd"}, b"\x89PNG", ".bin"),
        ({"type": "image", "data": ""}, b"", ".bin"),
        (
            {"type": "image", "data": base64.b64encode(b"\0\xff" * 99_998).decode()},
            b"\0\xff" * 99_998,
            ".bin",
        ),
        (
            {"type": "resource", "resource": {"text": "é\ud800", "mimeType": "text/csv"}},
            "é\\ud800".encode(),
            ".csv",
        ),
        ({"type": "new", "x": 1}, b'{"type": "new", "x": 1}', ".json"),
    ],
)
def test_the_content_of_a_part_is_decoded(part, data, extension):
    (found,) = rendered(content(part)).parts
    assert (b"".join(found.decode()), found.extension) == (data, extension)


@pytest.mark.parametrize(
    "data",
    [
        "QQ",
        "Q Q=",
        "%%%%",
        "é",
        "QQ==QUJD",
        "QUJD" * 50_000 + "Q",
        "QQ==" + "QUJD" * 50_000,
        "QUJD" * 50_000 + "=",
    ],
)
def test_what_is_not_base64_is_refused(data):
    (part,) = rendered(content({"type": "im\x1bage", "data": data})).parts
    with pytest.raises(
        ServerError, match=r": the im\\x1bage part is not base64; the tool has run$"
    ):
        b"".join(part.decode())
