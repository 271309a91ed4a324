"""Lists of tools. What a call needs of them is nothing."""

from zoo.expect import ANSWERED, FINE, Case, Want, unlisted

OPEN = (0, 4)
SEVERAL_NAMES = Want(
    status=OPEN, has=("echo",), warns=("etc/passwd",), says=("name",), again="same"
)


def listed(*has, check=FINE, **want):
    """Make the case of a list that can be pinned."""
    return Case(call=None, pin=Want(has=has, **want), check=check)


def doubtful(*has, old_status=(4, 1, 0), **want):
    """Make the case of a list that may be pinned, if all of it is."""
    old_check = Want(status=old_status, within=want.get("within", 8))
    return Case(call=None, pin=Want(status=(4, 0), has=has, **want), old_check=old_check)


def useless(**want):
    return unlisted(call=None, **want)


CASES = {
    "pages": Case(
        call=ANSWERED, pin=Want(has=("alpha", "bravo", "charlie", "delta", "foxtrot", "echo"))
    ),
    "null-cursor": listed("echo"),
    # It may be the end, or a loop, but never a hang.
    "empty-cursor": doubtful("echo", "bravo"),
    "empty-cursor-page": listed("echo", "bravo"),
    "page-loop": useless(),
    "page-circle": useless(),
    "page-endless": Case(
        call=None, pin=Want(status=(4,), within=30), old_check=Want(status=(4,), within=30)
    ),
    "empty-cursor-endless": Case(
        call=None, pin=Want(status=(4,), within=30), old_check=Want(status=(4,), within=30)
    ),
    # All pages or none.
    "page-error": useless(status=(5, 4), says=("-32602|Invalid cursor",)),
    "page-without-tools": useless(),
    "page-silent": useless(status=(124,), at_least=2, run={"timeout": 2}),
    "page-dies": useless(says=(r"\b6\b",)),
    "number-cursor": doubtful("echo", "bravo"),
    "object-cursor": useless(status=(4, 5)),
    "huge-cursor": doubtful("echo", "bravo"),
    "hostile-cursor": useless(status=(5, 4), says=("-32602|Invalid cursor|cursor",)),
    "dup-across-pages": listed("echo", warns=("echo",)),
    "list-changed": listed("echo", "bravo"),
    "list-array": useless(),
    "dup-keys-page": useless(),
    "dup-tools-member": useless(),
    "list-not-utf8": useless(says=("UTF-?8",), within=4),
    "half-pair-name": doubtful("echo", "half-"),
    "exact-numbers": listed("9007199254740993", "-12345678901234567890123"),
    "vast-number": doubtful("echo"),
    "deep-schema": doubtful("echo"),
    "empty-list": listed(warns=("(?i)no tools|0 tools|zero tools|empty|nothing",)),
    "tools-object": useless(),
    "tools-null": useless(),
    "tools-text": useless(),
    # Two definitions of a name: neither is the pinned one.
    "dup-tools": Case(
        call=None, pin=Want(status=(4,), says=("twin",)), old_check=Want(status=(4, 1))
    ),
    "dup-same": listed("echo", warns=("echo",)),
    "clock": listed(
        "echo", again="differs", check=Want(status=(1,), tells=("echo", "description"))
    ),
    "long-description": listed("echo", "d" * 10**6),
    "many-tools": listed("tool0000", "tool2999"),
    "odd-description": doubtful("echo"),
    "number-name": doubtful("echo", says=(r"\b[12]\b",), warns=(r"\b[127]\b",)),
    "no-name": doubtful("echo", says=(r"\b[123]\b",), warns=(r"\b[123]\b",), old_status=(4, 1)),
    # As they were sent, and a warning by name for each that is no object's schema.
    "bad-schema": listed(
        *("echo", "no-schema", "null-schema", "string-schema", "boolean-schema", "union-schema"),
        *("bare-schema", "null-required", "list-properties", "silent-tool"),
        warns=("no-schema", "null-schema", "string-schema", "boolean-schema"),
    ),
    # No reference is ever followed.
    "ref-schema": Case(call=None, pin=Want(has=("echo", "remote", "dangling")), listener=True),
    "bad-names": Case(call=ANSWERED, pin=SEVERAL_NAMES, old_check=Want(status=(4, 1))),
    # A warning for each of the four, and nothing raw.
    "hidden": listed(
        *("echo", "zw", "bidi", "tags"),
        warns=(r"\becho\b", r"\bzw\b", r"\bbidi\b", r"\btags\b"),
    ),
    "hidden-deep": listed("echo", "keyed", "listed"),
    "shuffle": listed("echo", "t8", pins=8),
    "rugpull": Case(
        call=None,
        pin=Want(has=("echo",), again="differs"),
        check=Want(status=(1,), tells=("echo", "description", r"\bkey\b")),
        state=True,
    ),
    "no-tools": unlisted(
        status=(4, 5),
        says=("-32601|no tools|not offer",),
        call=Want(status=(5, 4), says=("-32601|no tools|not offer",)),
    ),
}
