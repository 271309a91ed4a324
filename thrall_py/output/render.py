"""A tool's result as the bytes to print, and whether the tool said no. Pure.

Nothing is made before all of it is known to be printable, and then it is made piece by piece, so
that a large answer is never held twice.
"""

import binascii
from collections.abc import Iterator
from typing import Literal, NamedTuple

from thrall_py.errors import OutputError, ServerError
from thrall_py.protocol.jsontext import Value, decode
from thrall_py.visible import visible, visible_json, visible_text

_SHOWN = 120  # characters of a media type or an address in the line for a part
_LINK = "resource_link"
_SLICE = 1 << 16  # characters written at once: more do not stay in a cache on their way
_BASE64 = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

# What a saved part is called. Never from the server's own words, but for these media types.
_EXTENSIONS = {
    "application/json": ".json", "application/pdf": ".pdf", "application/zip": ".zip",
    "audio/mpeg": ".mp3", "audio/ogg": ".ogg", "audio/wav": ".wav", "image/gif": ".gif",
    "image/jpeg": ".jpg", "image/png": ".png", "image/svg+xml": ".svg", "image/webp": ".webp",
    "text/csv": ".csv", "text/html": ".html", "text/markdown": ".md", "text/plain": ".txt",
    "video/mp4": ".mp4",
}  # fmt: skip


class TextPart(NamedTuple):
    """A part of an answer that is text."""

    text: Value

    def encode(self, *, terminal: bool) -> Iterator[bytes]:
        """What is printed, piece by piece, without the newline behind it."""
        if not terminal:
            return self.text.encoded()
        shown = map(visible_text, self.text.pieces())
        return (text.encode("utf-8", "backslashreplace") for text in shown)


class MediaPart(NamedTuple):
    """A part of an answer that is not text: an image, a resource, or a kind nobody knows."""

    kind: str
    media_type: str
    address: str
    content: Value | None  # None for a mere link, or where nothing is
    encoding: Literal["base64", "text", "json"]

    @property
    def is_link(self) -> bool:
        """Whether the answer has only an address of it."""
        return self.kind == _LINK

    def line(self, saved_as: str = "") -> str:
        """The line that stands for it, without its newline."""
        words = [visible(self.media_type[:_SHOWN]) or "no media type", *self._amount()]
        words += [visible(self.address[:_SHOWN])] if self.address else []
        words += [f"saved as {saved_as}"] if saved_as else []
        return f"[{visible(self.kind[:_SHOWN])}: {', '.join(words)}]"

    def _amount(self) -> list[str]:
        if self.content is None:
            return []
        try:
            return [f"{self.size()} bytes"]
        except ServerError:
            return ["not base64"]

    @property
    def extension(self) -> str:
        """How the name of a file with its content ends."""
        unknown = ".json" if self.encoding == "json" else ".bin"
        return _EXTENSIONS.get(self.media_type.lower(), unknown)

    def decode(self) -> Iterator[bytes]:
        """Its content, piece by piece.

        Raises:
            ServerError: there is none, or it is not base64; pieces before that have been yielded.

        """
        if self.content is None:
            raise _unusable(f"the {visible(self.kind[:_SHOWN])} part has no data")
        if self.encoding == "json":
            yield self.content.text.encode("latin-1")
        elif self.encoding == "text":
            yield from self.content.encoded()
        else:
            yield from self._decode_base64(self.content)

    def size(self) -> int:
        """Count the bytes of its content; then `decode` will yield them all.

        Raises:
            ServerError: as `decode`.

        """
        if self.content is None or self.encoding != "base64":
            return sum(map(len, self.decode()))
        length, foreign, end = 0, 0, b""
        for piece in self.content.encoded():
            length += len(piece)
            foreign += len(piece.translate(None, _BASE64))
            end = (end + piece[-2:])[-2:]
        padding = len(end) - len(end.rstrip(b"="))
        if length % 4 or foreign != padding:
            raise self._not_base64()
        return length // 4 * 3 - padding

    def _decode_base64(self, content: Value) -> Iterator[bytes]:
        rest = b""
        try:
            for piece in content.encoded():
                text = rest + piece
                # At least one character stays for the end, and only there may padding stand.
                whole = max(0, len(text) - 1) // 4 * 4
                yield binascii.a2b_base64(text[:whole].replace(b"=", b"?"), strict_mode=True)
                rest = text[whole:]
            yield binascii.a2b_base64(rest, strict_mode=True)
        except ValueError:
            raise self._not_base64() from None

    def _not_base64(self) -> ServerError:
        return _unusable(f"the {visible(self.kind[:_SHOWN])} part is not base64")


class Rendered(NamedTuple):
    """An answer ready to be printed."""

    is_error: bool
    parts: list[TextPart | MediaPart]
    structured: Value | None  # printed when no part is text
    result: Value

    def lines(self, saved: dict[int, str], *, terminal: bool) -> Iterator[bytes]:
        """What goes to stdout by default; `saved` names the files of parts, by their places."""
        for place, part in enumerate(self.parts):
            if isinstance(part, TextPart):
                yield from part.encode(terminal=terminal)
            else:
                yield part.line(saved.get(place, "")).encode()
            yield b"\n"
        if self.structured:
            yield from verbatim(self.structured, terminal=terminal)

    def raw(self) -> Iterator[bytes]:
        """Take the one part that is not text as it is, or else the one that is there at all.

        Raises:
            OutputError: which one is meant cannot be told, or a link is all there is.
            ServerError: its content cannot be decoded; nothing was yielded.

        """
        media = [part for part in self.parts if isinstance(part, MediaPart)]
        if not media and len(self.parts) == 1 and isinstance(self.parts[0], TextPart):
            return self.parts[0].encode(terminal=False)
        if len(media) != 1 or media[0].is_link:
            texts = len(self.parts) - len(media)
            raise OutputError(
                f"--raw is for one part, and the answer has {texts} of text and {len(media)} others"
                " (without it they are told, --save DIR writes them)"
            )
        media[0].size()  # sound as a whole before its first piece is written
        return media[0].decode()

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to print."""
        return not self.parts and self.structured is None


def read_result(value: Value) -> Rendered:
    """Read a result of tools/call.

    Raises:
        ServerError: it is not such a result.

    """
    structured = value.member("structuredContent")
    parts = _parts(value.member("content"), missing_is_empty=structured is not None)
    has_text = any(isinstance(part, TextPart) for part in parts)
    is_error = _is_error(value.member("isError"))
    return Rendered(is_error, parts, None if has_text else structured, value)


def verbatim(value: Value, *, terminal: bool) -> Iterator[bytes]:
    """A JSON value on one line as the server wrote it."""
    if terminal:
        yield visible_json(decode(value.text)).encode() + b"\n"
        return
    for at in range(value.start, value.end, _SLICE):
        # Valid JSON has a carriage return between its tokens only.
        text = value.source[at : min(at + _SLICE, value.end)]
        yield text.replace("\r", " ").encode("latin-1")
    yield b"\n"


def _is_error(flag: Value | None) -> bool:
    if flag is not None and flag.first not in "tfn":
        raise _unusable("isError is neither true nor false")
    return flag is not None and flag.first == "t"


def _parts(content: Value | None, *, missing_is_empty: bool) -> list[TextPart | MediaPart]:
    if content is None and missing_is_empty:
        return []
    if content is None or not isinstance(content.children, list):
        raise _unusable("content is missing" if content is None else "content is not an array")
    return [_part(item) for item in content.children]


def _part(item: Value) -> TextPart | MediaPart:
    kind, text = item.member_string("type"), item.member("text")
    if kind is None:
        raise _unusable("a part of content has no type")
    if kind != "text":
        return _media_part(kind, item)
    if text is None or text.first != '"':
        raise _unusable("a text part has no text")
    return TextPart(text)


def _media_part(kind: str, item: Value) -> MediaPart:
    inner, data_name = item, "data"
    if kind == "resource":
        inner, data_name = item.member("resource") or item, "blob"
    media_type = inner.member_string("mimeType") or ""
    address = inner.member_string("uri") or ""
    text, data = inner.member("text"), inner.member(data_name)
    if kind == _LINK:
        return MediaPart(kind, media_type, address, None, "text")
    if text is not None and text.first == '"':
        return MediaPart(kind, media_type, address, text, "text")
    if data is not None and data.first == '"':
        return MediaPart(kind, media_type, address, data, "base64")
    known = kind in {"image", "audio", "resource"}  # then it has nothing in it
    return MediaPart(kind, media_type, address, None if known else item, "json")


def _unusable(why: str) -> ServerError:
    return ServerError(f"the server sent a result that cannot be used: {why}; the tool has run")
