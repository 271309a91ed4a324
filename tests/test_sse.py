import pytest
from hypothesis import given
from hypothesis import strategies as st

from thrall_py.protocol.channel import MessageTooLarge
from thrall_py.transport.sse import EventStream

LIMIT = 1 << 20


def read(*chunks, limit=LIMIT, **options):
    """The stream after these chunks, and its events as pairs of type and data."""
    stream = EventStream(limit, **options)
    events = [event for chunk in chunks for event in stream.feed(chunk)]
    return stream, [(event.type.decode(), bytes(event.data).decode()) for event in events]


EVENTS = {
    "one line of data": (b"data: a\n\n", [("message", "a")]),
    "no space behind the colon": (b"data:a\n\n", [("message", "a")]),
    "two spaces, of which one counts": (b"data:  a\n\n", [("message", " a")]),
    "a tab, which is no space": (b"data:\ta\n\n", [("message", "\ta")]),
    "several lines": (b"data: a\ndata\ndata: b\n\n", [("message", "a\n\nb")]),
    "a type": (b"event: add\ndata: a\n\n", [("add", "a")]),
    "the last of two types": (b"event: x\nevent: add\ndata: a\n\n", [("add", "a")]),
    "an empty type": (b"event\ndata: a\n\n", [("message", "a")]),
    "a type for one event only": (
        b"event: x\ndata: a\n\ndata: b\n\n",
        [("x", "a"), ("message", "b")],
    ),
    "a type without data": (b"event: x\n\ndata: b\n\n", [("message", "b")]),
    "empty data": (b"data\n\n", [("message", "")]),
    "no data": (b"id: 1\n\n\n\n", []),
    "a comment": (b": data: a\n:\n\n", []),
    "an unknown field": (b"date: a\n data: b\nDATA: c\n\n", []),
    "a field that is longer": (b"data2: a\n\n", []),
    "a colon in the data": (b"data: a: b\n\n", [("message", "a: b")]),
    "an event that does not end": (b"data: a\n", []),
    "carriage returns": (b"data: a\r\rdata: b\r\r", [("message", "a"), ("message", "b")]),
    "both": (b"data: a\r\n\r\n", [("message", "a")]),
    "a mixture": (b"data: a\rdata: b\ndata: c\r\n\r", [("message", "a\nb\nc")]),
    "a byte order mark": (b"\xef\xbb\xbfdata: a\n\n", [("message", "a")]),
    "two of them": (b"\xef\xbb\xbf\xef\xbb\xbfdata: a\n\n", []),
    "one in the second line": (b"\n\xef\xbb\xbfdata: a\n\n", []),
    "U+2028, which ends no line": ("data: \u2028\n\n".encode(), [("message", "\u2028")]),
    "NUL": (b"data: \0\n\n", [("message", "\0")]),
}


@pytest.mark.parametrize(("stream", "events"), EVENTS.values(), ids=EVENTS)
def test_a_stream_becomes_events_as_the_specification_says(stream, events):
    assert read(stream)[1] == events
    assert read(*(stream[at : at + 1] for at in range(len(stream))))[1] == events


IDS = {
    "one": (b"id: 1\ndata: a\n\n", b"1"),
    "one without data": (b"id: 1\n\n", b"1"),
    "one of an event that is not complete": (b"id: 1\n\nid: 2\ndata: a\n", b"1"),
    "one that stays": (b"id: 1\n\ndata: a\n\n", b"1"),
    "none, which takes it back": (b"id: 1\n\nid\n\n", b""),
    "one with NUL, which does not count": (b"id: 1\n\nid: 2\0\n\n", b"1"),
    "bytes beyond ASCII": ("id: é\n\n".encode(), "é".encode()),
}


@pytest.mark.parametrize(("stream", "last"), IDS.values(), ids=IDS)
def test_the_last_id_is_that_of_the_last_complete_event(stream, last):
    assert read(stream)[0].last_id == last


def test_a_stream_that_is_resumed_keeps_the_id_until_it_gets_another():
    assert read(b"data: a\n\n", last_id=b"7")[0].last_id == b"7"
    assert read(b"id: 8\n\n", last_id=b"7")[0].last_id == b"8"


RETRIES = {
    "milliseconds": (b"retry: 250\n", 0.25),
    "zero": (b"retry:0\n", 0.0),
    "an absurd number": (b"retry: " + b"9" * 10_000 + b"\n", float("inf")),
    "none": (b"data: a\n\n", None),
    "nothing": (b"retry\n", None),
    "a fraction": (b"retry: 1.5\n", None),
    "a sign": (b"retry: -1\n", None),
    "space behind": (b"retry: 1 \n", None),
    "digits beyond ASCII": ("retry: ٣\n".encode(), None),
}


@pytest.mark.parametrize(("stream", "seconds"), RETRIES.values(), ids=RETRIES)
def test_a_retry_is_digits_only(stream, seconds):
    assert read(stream)[0].retry == seconds


@pytest.mark.parametrize(
    "stream",
    [
        b"data: " + b"x" * 60,
        b"data: " + b"x" * 60 + b"\n\n",
        b"data: xxxxxxxxxx\n" * 6,
        b": " + b"x" * 60,
        b"data\n" * 60,
    ],
)
def test_an_event_that_is_too_large_is_refused_before_it_ends(stream):
    with pytest.raises(MessageTooLarge) as caught:
        read(stream, limit=50)
    assert caught.value.what == "sent more than 50 bytes in one event"


def test_any_number_of_events_within_the_limit_passes():
    _, events = read(b"data: 0123456789\n\n" * 1000, limit=50)
    assert len(events) == 1000


WORDS = st.lists(
    st.sampled_from(
        [b"data", b":", b" ", b"\n", b"\r", b"\r\n", b"\n\n", b"id", b"event", b"retry", b"1",
         b"x", b"\xef\xbb\xbf", "é".encode(), b"\0", b"data: a\n"]
    ),
    max_size=40,
)  # fmt: skip


def by_the_book(text):
    """The algorithm again, line by line over the whole stream, as the specification tells it."""
    lines = text.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    *lines, _ = lines.split(b"\n")
    events, data, kind, buffered, last, retry = [], b"", b"", b"", b"", None
    for line in lines:
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if not line:
            last = buffered
            if data:
                events.append((kind or b"message", data[:-1]))
            data = kind = b""
        elif name == b"data":
            data += value + b"\n"
        elif name == b"event":
            kind = value
        elif name == b"id" and b"\0" not in value:
            buffered = value
        elif name == b"retry" and value.isdigit():
            retry = int(value) / 1000
    return events, last, retry


@given(WORDS, st.data())
def test_any_portions_give_the_events_of_the_whole(words, data):
    text = b"".join(words)
    cuts = data.draw(st.lists(st.integers(0, len(text)), max_size=8).map(sorted))
    chunks = [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    stream = EventStream(LIMIT)
    events = [(e.type, bytes(e.data)) for chunk in chunks for e in stream.feed(chunk)]
    assert (events, stream.last_id, stream.retry) == by_the_book(text)
