"""Protocol versions, the probe and the handshake."""

from zoo.expect import ANSWERED, ECHO, FINE, PINNED, Case, Want, same_for_all

OURS = "2025-11-25|2026-07-28"
NO_PROBE = Want(never_sends=("server/discover",))
MODERN = Want(out=ECHO, never_sends=("initialize", "notifications/initialized"))
MODERN_PIN = Want(has=PINNED.has, never_sends=("initialize",))
MODERN_CHECK = Want(never_sends=("initialize",))
WHOLE = Case(pin=PINNED)
MODERN_JSON = (
    r'{"resultType":"complete","content":[{"type":"text","text":"{\"text\":\"hi\"}"}],'
    '"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"zoo","version":"1"}}}'
)
# A probe that is not answered costs some seconds, once.
PATIENT = Case(
    call=Want(out=ECHO, within=20),
    pin=Want(has=PINNED.has, within=20, pins=1),
    check=Want(within=20),
)
REFUSES_TO_FIT = ("2099-01-01",)

CASES = {
    # The control: a check does not probe, because the era is in the catalog.
    "ok": Case(
        pin=PINNED,
        check=NO_PROBE,
        json=r'{"content":[{"type":"text","text":"{\"text\":\"hi\"}"}]}',
    ),
    "modern-only": Case(call=MODERN, pin=MODERN_PIN, check=MODERN_CHECK, json=MODERN_JSON),
    "dual-era": Case(call=MODERN, pin=MODERN_PIN, check=MODERN_CHECK),
    "old-version": WHOLE,
    "alien-version": same_for_all(
        status=(4,), says=("1999-01-01", OURS), never_sends=("tools/", "notifications/initialized")
    ),
    "hostile-version": same_for_all(status=(4,), says=("zoo", OURS), never_sends=("tools/",)),
    "wants-initialized": WHOLE,
    # The probe kills this one once; the check knows better.
    "die-on-unknown": Case(
        call=Want(out=ECHO, server_says=("Error: ExpectedInitialize",)),
        pin=Want(has=PINNED.has, server_says=("Error: ExpectedInitialize",)),
        check=NO_PROBE,
    ),
    "silent-on-unknown": Case(call=PATIENT.call, pin=PATIENT.pin, check=NO_PROBE),
    "probe-poison": WHOLE,
    "die-after-refusal": Case(pin=PINNED, check=NO_PROBE),
    "silent-then-dies": Case(call=PATIENT.call, pin=PATIENT.pin, check=NO_PROBE),
    # Its first process is deaf, so a fresh one has to be started.
    "deaf-after-probe": Case(
        call=Want(out=ECHO, within=30),
        pin=Want(has=PINNED.has, within=30, pins=1),
        check=NO_PROBE,
    ),
    "mute-after-probe": Case(
        call=Want(out=ECHO, within=30),
        pin=Want(has=PINNED.has, within=30, pins=1),
        check=NO_PROBE,
    ),
    "escapee-then-dies": Case(
        call=Want(out=ECHO, within=12),
        pin=Want(has=PINNED.has, within=12, pins=1),
        check=Want(never_sends=("server/discover",), within=12),
    ),
    "slow-start-modern": PATIENT,
    "slow-start-dies": Case(
        call=Want(out=ECHO, within=26),
        pin=Want(has=PINNED.has, within=26, pins=1),
        check=Want(never_sends=("server/discover",), within=20),
    ),
    "slow-probe-legacy": PATIENT,
    "slow-probe-modern": PATIENT,
    "slow-probe-dual": PATIENT,
    # -32022 proves a modern server: no initialize after it.
    "modern-unsupported": same_for_all(
        status=(4,), says=REFUSES_TO_FIT, never_sends=("initialize", "tools/")
    ),
    "version-retry": Case(call=MODERN, pin=MODERN_PIN, check=MODERN_CHECK),
    "version-retry-endless": same_for_all(
        status=(4, 5), says=("2026-07-28",), never_sends=("tools/",)
    ),
    "version-legacy-only": Case(
        call=Want(out=ECHO, sends=("initialize",)), pin=PINNED, check=NO_PROBE
    ),
    "version-no-list": Case(call=Want(out=ECHO, sends=("initialize",)), pin=PINNED, check=FINE),
    "discover-empty": Case(call=Want(out=ECHO, sends=("initialize",)), pin=PINNED),
    "discover-legacy": Case(call=Want(out=ECHO, sends=("initialize",)), pin=PINNED),
    "discover-odd": Case(call=Want(out=ECHO, sends=("initialize",)), pin=PINNED),
    "discover-alien": same_for_all(status=(4,), never_sends=("tools/",)),
    "discover-bare": Case(call=MODERN, pin=MODERN_PIN, check=MODERN_CHECK),
    "init-noise": WHOLE,
    # Without a version there is none in common; a lenient reading has to be right, then.
    "init-no-version": same_for_all(status=(4,), never_sends=("tools/",)),
    "init-number-version": same_for_all(status=(4,), never_sends=("tools/",)),
    "init-text": same_for_all(status=(4,), never_sends=("tools/",)),
    "init-refused": same_for_all(
        status=(4, 5), says=("2030-01-01|no visitors",), never_sends=("tools/",)
    ),
    # It does not say that it has tools, and has them.
    "init-bare": Case(
        pin=Want(status=(0, 4), has=PINNED.has, says=("(?i)tools",)),
        old_check=Want(status=(0, 4)),
    ),
    "hostile-server-name": Case(call=ANSWERED, pin=PINNED),
    "hostile-instructions": Case(call=ANSWERED, pin=PINNED),
    "hostile-modern": Case(call=MODERN, pin=PINNED, check=MODERN_CHECK),
}
