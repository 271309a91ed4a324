import pytest
from fakes import Script, message, result, session_over

from thrall_py.protocol import mcp, tools
from thrall_py.protocol.channel import Label, ReceiveTimeout
from thrall_py.protocol.watched import SeveralWatchers, WatchedChannel
from thrall_py.protocol.watcher import NO_AUDIENCE, NOBODY, Watcher
from thrall_py.redact import Redactor

METHODS = [name for name in vars(Watcher) if callable(getattr(Watcher, name))]


class Diary(Watcher):
    """Writes down what it is told, by the names of its methods."""

    def __init__(self, token=""):
        self.progress_token = token
        self.entries = []
        for name in METHODS:
            setattr(self, name, lambda *given, name=name: self.entries.append((name, *given)))

    @property
    def told(self):
        return [entry[0] for entry in self.entries]


def progress(token="t", method="notifications/progress", **params):
    return message(method=method, params={"progressToken": token, **params})


def watched(script, token=""):
    diary = Diary(token)
    return WatchedChannel(script, diary), diary


def test_requests_are_told_and_notifications_are_not():
    script = Script(headers=True)
    channel, diary = watched(script)
    channel.send(b'{"id":1}\n', Label("tools/call", "", is_request=True))
    channel.send(b"{}\n", Label("notifications/initialized", ""))
    channel.settle()
    assert diary.entries == [("sent", "tools/call"), ("answered",)]
    assert script.sent == [{"id": 1}, {}]
    assert (script.settled, channel.has_headers, channel.unread_by_server()) == (1, True, 0)
    assert not channel.has_ended()


def test_the_end_is_told_once_however_often_it_comes():
    channel, diary = watched(Script(ending="exited with status 0"))
    assert [channel.close(), channel.close()] == ["exited with status 0"] * 2
    assert diary.entries == [("closing",), ("closed", "exited with status 0")]


def test_progress_that_was_asked_for_is_told_and_goes_no_further():
    channel, diary = watched(Script(progress(progress=1), b"{}"), token="t")
    assert channel.receive(9) == b"{}"
    assert diary.told == ["progressed", "resumed"]
    assert diary.entries[0][1].member("progress").text == "1"


def test_a_wait_that_fails_is_over_too():
    channel, diary = watched(Script(progress()), token="t")
    with pytest.raises(ReceiveTimeout):
        channel.receive(9)
    assert diary.told == ["progressed", "resumed"]


@pytest.mark.parametrize(
    "line",
    [
        progress(token="other"),
        progress(token=None),
        progress(method="notifications/progress/else"),
        message(method="notifications/progress"),
        b"notifications/progress",
        progress(message="x" * (1 << 16)),
        b'{"method":"notifications/progress","params":[]}',
    ],
)
def test_what_is_no_such_progress_passes(line):
    channel, diary = watched(Script(line), token="t")
    assert channel.receive(9) == line
    assert diary.told == ["resumed"]


def test_without_a_token_no_message_is_looked_into():
    channel, diary = watched(Script(progress(token="")))
    assert channel.receive(9) == progress(token="")
    assert diary.told == ["resumed"]


def test_several_are_told_all_of_it():
    diaries = [Diary(), Diary("t")]
    several = SeveralWatchers(diaries)
    given = {
        "from_server": (b"x", None),
        "closing": (),
        "answered": (),
        "resumed": (),
        "running": (),
        "listed": ("tools", 1),
    }
    for name in METHODS:
        getattr(several, name)(*given.get(name, ("x",)))
    assert [diary.told for diary in diaries] == [METHODS] * 2
    assert (several.progress_token, several.wants_bytes) == ("t", False)


def test_nobody_takes_notice_of_anything():
    assert NO_AUDIENCE.follow("a", Redactor()) is NOBODY
    NO_AUDIENCE.asking(["a"])
    given = {
        "from_server": (b"x", None),
        "closing": (),
        "answered": (),
        "resumed": (),
        "running": (),
        "listed": ("tools", 1),
    }
    assert [getattr(NOBODY, name)(*given.get(name, ("x",))) for name in METHODS] == [None] * len(
        METHODS
    )
    assert (NOBODY.progress_token, NOBODY.wants_bytes) == ("", False)


@pytest.mark.parametrize(
    ("revision", "meta"),
    [("2025-11-25", {"progressToken": "t"}), (mcp.MODERN, {"progressToken": "t"})],
)
def test_a_call_asks_for_progress_if_somebody_watches(revision, meta):
    script = Script(respond=lambda asked: [result(asked["id"], content=[])])
    session = session_over(script)
    session.complete_handshake(mcp.ServerInfo(revision))
    tools.call(session, "echo", "{}", 9, 1 << 20)
    session.watcher = Diary("t")
    tools.call(session, "echo", "{}", 9, 1 << 20)
    plain, asking = (sent["params"] for sent in script.sent)
    envelope = plain.pop("_meta", {})
    assert asking.pop("_meta") == {**envelope, **meta}
    assert plain == asking == {"name": "echo", "arguments": {}}


def test_a_list_is_told_when_it_is_whole():
    pages = iter([{"tools": [{"name": "a"}], "nextCursor": "n"}, {"tools": [{"name": "b"}]}])
    session = session_over(Script(respond=lambda asked: [result(asked["id"], **next(pages))]))
    session.watcher = Diary()
    tools.list_all(session, mcp.TOOLS, 9, 1 << 20)
    assert session.watcher.entries == [("listed", "tools", 2)]
