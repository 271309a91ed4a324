import pytest

from thrall_py.output.narration import Narrator
from thrall_py.protocol.mcp import ServerInfo
from thrall_py.redact import Redactor


class Told(list):
    def __init__(self, *secrets):
        super().__init__()
        self.now = 5.0
        self.narrator = Narrator(self.append, Redactor(secrets), lambda: self.now)


@pytest.fixture
def told():
    return Told("sesame42sesame")


def test_a_conversation_is_told_with_the_time_since_its_beginning(told):
    narrator = told.narrator
    narrator.spawned("uvx\x1b")
    narrator.connected("http://a\x1b")
    narrator.sent("server/discover")
    told.now += 0.25
    narrator.answered()
    narrator.signalled("SIGTERM")
    narrator.closing()
    told.now += 1
    narrator.closed("exited with status 0")
    assert told == [
        r"    0 ms  started uvx\x1b",
        r"    0 ms  connected to http://a\x1b",
        "    0 ms  sent server/discover (the probe)",
        "  250 ms  answered in 250 ms",
        "  250 ms  sent SIGTERM",
        "  250 ms  leaving the server",
        " 1250 ms  the server exited with status 0, after 1000 ms",
    ]


@pytest.mark.parametrize(
    ("server", "words"),
    [
        (ServerInfo("2025-11-25", "clock", "1.2"), 'speaks 2025-11-25; it is "clock" 1.2'),
        (ServerInfo("2025-11-25"), 'speaks 2025-11-25; it is ""'),
        (
            ServerInfo("2025-11-25", "a\x1b", "sesame42sesame"),
            r'speaks 2025-11-25; it is "a\x1b" ***',
        ),
    ],
)
def test_what_the_server_is_is_told_safely(told, server, words):
    told.narrator.agreed(server)
    assert told == [f"    0 ms  {words}"]


@pytest.mark.parametrize(
    ("pages", "count", "words"),
    [(1, 1, "1 tool in 1 page"), (3, 20, "20 tools in 3 pages"), (1, 0, "0 tools in 1 page")],
)
def test_pages_of_a_list_are_counted_anew_for_each(told, pages, count, words):
    for _ in range(2):
        for _ in range(pages):
            told.narrator.sent("tools/list")
        told.narrator.listed("tools", count)
    assert [line for line in told if "listed" in line] == [f"    0 ms  listed {words}"] * 2
