"""Bytes, characters, numbers and sizes."""

from zoo.expect import PINNED, Case, Want, answers, broken_answer

DIGITS = (
    '{"id":9007199254740993,"huge":12345678901234567890123,"one":1,"float":1.0,'
    '"zero":-0.0,"small":1e-7,"vast":1e400,"digits":0.1000000000000000055511151231257827}'
)

CASES = {
    "partial": Case(pin=PINNED),
    "drip": answers(out="dröp ✓ \U0001f9ac\n"),
    # The line without an end has the id that was asked with.
    "drip-endless": Case(
        call=Want(status=(124,), says=("may have run",), at_least=2, never=("nobody asked",)),
        timeout=2,
    ),
    "coalesced": answers(out="together\n"),
    "long-line": answers(out_bytes=(20 << 20) + 1, megabytes=400, within=12),
    # The default of --max-message ends it.
    "endless-line": answers(status=(4,), megabytes=400, within=20),
    "u2028": answers(out="a\u2028b\u2029c\u0085d\n"),
    "lone-surrogate": answers(
        out_has=("^half .+ bird\\n$",),
        json='{"content":[{"type":"text","text":"half \\ud83e bird"}]}',
    ),
    "nul": answers(
        out_has=("^a.+b.+c.+red.+d\\n$",),
        json='{"content":[{"type":"text","text":"a\\u0000b\\u0007c\\u001b[31mred\u009b2Jd"}]}',
    ),
    # The line has our id, so nothing better will come.
    "latin1": broken_answer(says=("UTF-?8",)),
    "latin1-before-id": broken_answer(says=("UTF-?8",)),
    "surrogate-bytes": broken_answer(says=("UTF-?8",)),
    "nan": broken_answer(says=("JSON|NaN",)),
    "nan-before-id": broken_answer(says=("JSON|NaN",)),
    "bad-escape": broken_answer(says=("JSON|escape",)),
    "deep": broken_answer(status=(4, 0), out_has=(r"^\[{100000}\]{100000}\n$",), within=8),
    "dup-keys": broken_answer(status=(4, 1)),
    "dup-result": broken_answer(),
    "dup-id": broken_answer(status=(4, 124), timeout=2),
    "escaped-keys": answers(out="spelled out\n"),
    "big-numbers": answers(
        out_json=DIGITS, json='{"content":[],"structuredContent":' + DIGITS + "}"
    ),
    "long-number": broken_answer(status=(0, 4), out_has=(r'^\{"n": ?7{100000}\}\n$',)),
}
