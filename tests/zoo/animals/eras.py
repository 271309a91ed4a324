"""Protocol versions, the probe and the handshake."""

import sys
import time

from .osutil import helper, linger, setting
from .server import (
    LEGACY,
    MODERN,
    NAMESPACE,
    Server,
    animal,
    encode,
    replacing,
    variant,
    write_all,
)

HOSTILE = "zoo\x1b[31m\x9b2J\u202eevil\u200b\U000e0041\nthrall: all is well"

variant("modern-only", "Speaks 2026-07-28 and nothing else.", __name__, era="modern")
variant("dual-era", "Speaks both eras.", __name__, era="dual")
variant("old-version", "Answers 2024-11-05, whatever was asked.", __name__, version="2024-11-05")
variant("alien-version", "Answers 1999-01-01.", __name__, version="1999-01-01")


@animal
class WantsInitialized(Server):
    """Refuses tools before notifications/initialized."""

    def serve(self, request):
        if self.ready:
            super().serve(request)
        else:
            self.refuse(request, -32602, "Not initialized yet")


@replacing("before_handshake")
def die_on_unknown(server, _request):
    """Dies of a first message that is not initialize."""
    server.say("Error: ExpectedInitialize")
    sys.exit(1)


@replacing("before_handshake")
def silent_on_unknown(_server, _request):
    """Ignores requests before initialize."""


@animal
class ProbePoison(Server):
    """A process that was asked too early never works again."""

    poisoned = False

    def before_handshake(self, request):
        self.poisoned = True
        self.refuse(request, -32600, "bad state")

    def initialize(self, request):
        if self.poisoned:
            self.refuse(request, -32600, "bad state")
        else:
            super().initialize(request)


@animal
class DieAfterRefusal(Server):
    """Refuses what comes before initialize, and exits."""

    def before_handshake(self, request):
        super().before_handshake(request)
        sys.exit(1)


@animal
class SilentThenDies(Server):
    """Ignores the probe and dies of the line after it."""

    probed = False

    def handle(self, message):
        if self.probed:
            sys.exit(1)
        super().handle(message)

    def before_handshake(self, _request):
        self.probed = True


@replacing("before_handshake")
def deaf_after_probe(_server, _request):
    """A process that read a probe reads and answers nothing any more."""
    linger()


@animal
class MuteAfterProbe(Server):
    """A process that read a probe goes on reading, and never answers anything."""

    mute = False

    def handle(self, message):
        if not self.mute:
            super().handle(message)

    def before_handshake(self, _request):
        self.mute = True


@animal
class EscapeeThenDies(Server):
    """Leaves a helper in a session of its own, and dies of the probe."""

    def at_start(self):
        helper("escapee", new_session=True)

    def before_handshake(self, _request):
        sys.exit(1)


@animal
class SlowStartModern(Server):
    """Reads nothing for 6 s; speaks 2026-07-28 only."""

    era = "modern"

    def at_start(self):
        time.sleep(setting("DELAY", 6.0))


@animal
class SlowStartDies(Server):
    """Reads nothing for 6 s, and then dies of the probe."""

    def at_start(self):
        time.sleep(setting("DELAY", 6.0))

    def before_handshake(self, _request):
        sys.exit(1)


class SlowProbe(Server):
    """Gets to the first request only after 7 s."""

    era = "legacy"
    slept = False

    def handle(self, message):
        if not self.slept and message.get("method") != "initialize":
            self.slept = True
            time.sleep(setting("DELAY", 7.0))
        super().handle(message)


@animal
class SlowProbeLegacy(SlowProbe):
    """Refuses the probe after 7 s."""


@animal
class SlowProbeModern(SlowProbe):
    """Answers the probe after 7 s; speaks 2026-07-28 only."""

    era = "modern"


@animal
class SlowProbeDual(SlowProbe):
    """Answers the probe after 7 s, and initialize as well."""

    era = "dual"


def refuse_each(name, about, **data):
    def handle(self, message):
        if "id" in message and "method" in message:
            self.refuse(message, -32022, "Unsupported protocol version", **data)

    variant(name, about, __name__, handle=handle)


refuse_each(
    "modern-unsupported", "-32022 to everything: only 2099-01-01.", supported=["2099-01-01"]
)
refuse_each("version-retry-endless", "-32022, asking for the version it got.", supported=[MODERN])


@animal
class VersionRetry(Server):
    """-32022 once, asking for the very version that was sent."""

    era = "modern"
    refused = False

    def handle_modern(self, request):
        if self.refused:
            super().handle_modern(request)
        else:
            self.refused = True
            self.refuse(request, -32022, "Unsupported protocol version", supported=[MODERN])


class ProbeRefused(Server):
    supported = ()

    def before_handshake(self, request):
        self.refuse(request, -32022, "Unsupported protocol version", supported=self.supported)


@animal
class VersionLegacyOnly(ProbeRefused):
    """-32022 to the probe, naming legacy versions only."""

    supported = LEGACY


@animal
class VersionNoList(ProbeRefused):
    """-32022 to the probe, with an object where the versions should be."""

    supported = {"all": True}  # noqa: RUF012 - nobody changes it


def discovering(name, about, **result):
    def before_handshake(self, request):
        self.reply(request, result)

    variant(name, about, __name__, before_handshake=before_handshake)


discovering("discover-empty", "The probe gets {}; initialize works.")
discovering(
    "discover-legacy",
    "The probe gets legacy versions only; initialize works.",
    supportedVersions=list(LEGACY),
    capabilities={},
)
discovering(
    "discover-odd",
    "The probe gets a number for the versions; initialize works.",
    supportedVersions=20260728,
)


@replacing("discover", era="modern")
def discover_alien(server, request):
    """The probe gets 2099-01-01 only; initialize is refused."""
    server.reply(request, {"supportedVersions": ["2099-01-01"], "capabilities": {"tools": {}}})


@replacing("discover", era="modern")
def discover_bare(server, request):
    """The probe gets its versions and nothing besides."""
    server.send({"id": request["id"], "jsonrpc": "2.0", "result": {"supportedVersions": [MODERN]}})


@animal
class InitNoise(Server):
    """Notifications before the answers of the handshake."""

    def handle(self, message):
        if message.get("method") in ("initialize", "server/discover"):
            self.log_message("starting")
            self.notify("notifications/tools/list_changed")
        super().handle(message)


@replacing("initialize")
def init_no_version(server, request):
    """initialize is answered without protocolVersion."""
    server.reply(request, {"capabilities": {"tools": {}}, "serverInfo": {"name": "zoo"}})


@replacing("initialize")
def init_number_version(server, request):
    """initialize is answered with a number for protocolVersion."""
    server.reply(request, {"protocolVersion": 20251125, "capabilities": {"tools": {}}})


@replacing("initialize")
def init_bare(server, request):
    """initialize is answered with protocolVersion and nothing besides."""
    server.reply(request, {"protocolVersion": LEGACY[0]})


@replacing("initialize")
def init_text(server, request):
    """initialize is answered with a string."""
    server.send({"jsonrpc": "2.0", "id": request["id"], "result": "welcome"})


@replacing("initialize")
def init_refused(server, request):
    """initialize is refused with -32602."""
    server.refuse(request, -32602, "no visitors today", supported=["2030-01-01"])


@animal
class HostileServerName(Server):
    """Escapes, bidi, tags and a forged line in serverInfo."""

    def greeting(self, request):
        info = {"name": HOSTILE, "title": HOSTILE, "version": HOSTILE}
        return {**super().greeting(request), "serverInfo": info}


@animal
class HostileInstructions(Server):
    """Escapes, bidi, tags and a forged line in instructions."""

    def greeting(self, request):
        return {**super().greeting(request), "instructions": HOSTILE * 1000}


@animal
class HostileModern(Server):
    """Escapes in all that a discovery may say about the server."""

    era = "modern"

    def discover(self, request):
        info = {"name": HOSTILE, "version": HOSTILE}
        result = {
            "resultType": "complete",
            "supportedVersions": [HOSTILE, MODERN],
            "capabilities": {"tools": {}, HOSTILE: {}},
            "instructions": HOSTILE,
            "serverInfo": info,
            "_meta": {NAMESPACE + "serverInfo": info},
        }
        write_all(encode({"jsonrpc": "2.0", "id": request["id"], "result": result}) + b"\n")


variant("hostile-version", "Answers a version full of escapes.", __name__, version=HOSTILE)
