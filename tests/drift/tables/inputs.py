"""Parameters: what narrows breaks the caller, what widens is an addition."""

from drift.cases import ADDITIVE, BREAKING, KNOWN_TO_NOBODY, briefly, cosmetic
from drift.edits import add, drop, put, renamed, respelled, turned

INPUT = "tools/book_berth/inputSchema"
PARAMETERS = f"{INPUT}/properties"
CARGO = f"{INPUT}/$defs/cargo"
FIND = "tools/find_ship/inputSchema"
FINDS = f"{FIND}/properties"
TIDES = "tools/read_tide/inputSchema/properties"
LOCKS = "tools/close_lock/inputSchema/properties"

NOT_CHECKED = "behaviour|breaking|text"  # what is said of a value and binds nobody


def narrows(about, *edits, **more):
    return briefly(BREAKING, about, *edits, **more)


def widens(about, *edits, **more):
    return briefly(ADDITIVE, about, *edits, **more)


CASES = {
    # Parameters
    "parameter-in-a-branch": widens(
        "An object in a branch of anyOf takes one more member",
        put(f"{PARAMETERS}/arrival/anyOf/1/properties/tug", {"type": "string"}),
        shows=("tug",),
    ),
    "parameter-needed": narrows(
        "A new parameter has to be given",
        put(f"{PARAMETERS}/agent", {"type": "string"}),
        add("agent", to=f"{INPUT}/required"),
        finds=(f"breaking|additive {PARAMETERS}/agent", f"breaking {INPUT}/required/agent"),
        era="legacy",
    ),
    "parameter-needed-now": narrows(
        "What could be left out in $defs has to be given",
        put(f"{CARGO}/required", ["goods", "tons"]),
        finds=(f"breaking {CARGO}/required/tons",),
        era="modern",
    ),
    "parameter-not-needed": widens(
        "A parameter may be left out",
        put(f"{INPUT}/required", ["ship"]),
        finds=(f"additive {INPUT}/required/quay",),
    ),
    "parameter-gone": narrows(
        "A parameter is gone", drop(f"{TIDES}/gauge"), shows=("gauge",), era="legacy"
    ),
    "parameters-like-an-envelope": widens(
        "New parameters have the names of members around a list",
        put(f"{LOCKS}/cacheScope", {"type": "string", "description": "Your private key."}),
        put(f"{LOCKS}/nextCursor", {"type": "string"}),
        put(f"{LOCKS}/resultType", {"type": "string"}),
        shows=("Your private key.", "cacheScope", "nextCursor", "resultType"),
    ),
    "parameters-like-keywords": widens(
        "New parameters have the names of keywords",
        put(f"{LOCKS}/required", {"type": "boolean"}),
        put(f"{LOCKS}/description", {"type": "string"}),
        put(f"{LOCKS}/__proto__", {"type": "object"}),
    ),
    # Values
    "choice-gone": narrows(
        "A choice for the items of an array is gone",
        put(f"{PARAMETERS}/services/items/enum", ["water", "power"]),
        shows=("waste",),
    ),
    "choice-more": widens(
        "An enum has one more value",
        add("naval", to=f"{PARAMETERS}/quay/enum"),
        finds=(f"additive {PARAMETERS}/quay/enum",),
        shows=("naval",),
        era="legacy",
    ),
    "choice-of-another-type": narrows(
        "In an enum of numbers 1 becomes true", put(f"{FINDS}/step/enum", [0, True, 2])
    ),
    "choice-turned": cosmetic("An enum is in another order", turned(f"{PARAMETERS}/quay/enum")),
    "constant": narrows("A constant becomes a string", put(f"{FINDS}/version/const", "1")),
    "default-other": briefly(
        NOT_CHECKED,
        "A default in a branch is another",
        put(f"{PARAMETERS}/arrival/anyOf/1/properties/pilot/default", True),
        era="modern",
    ),
    "default-of-another-type": briefly(
        NOT_CHECKED, "The default 1 becomes true", put(f"{PARAMETERS}/nights/default", True)
    ),
    "default-new": briefly(
        NOT_CHECKED, "A parameter gets a default", put(f"{TIDES}/gauge/default", "../../keys")
    ),
    # Limits
    "open-branch": briefly(
        "additive|behaviour",
        "An object in a branch takes members of any name",
        drop(f"{PARAMETERS}/arrival/anyOf/1/additionalProperties"),
    ),
    "closed": narrows(
        "No more members than the named ones", put(f"{FIND}/additionalProperties", False)
    ),
    "past-int64": widens(
        "A bound goes from the largest 64-bit integer to its neighbour",
        put(f"{TIDES}/at/maximum", 9223372036854775808),
        shows=("9223372036854775807", "9223372036854775808"),
        in_catalog=("9223372036854775808",),
    ),
    "below-int64": narrows(
        "A bound of 64 bits becomes smaller by one",
        put(f"{TIDES}/at/maximum", 9223372036854775806),
        era="legacy",
    ),
    "beyond-a-double": widens(
        "A bound becomes a number that no double holds",
        respelled('"maximum":366.5', '"maximum":1e999'),
        finds=(f"additive {PARAMETERS}/draught/maximum",),
        shows=("1e999",),
    ),
    "between-doubles": widens(
        "A bound grows by less than a double can tell",
        respelled('"maximum":366.5', '"maximum":366.50000000000000000001'),
        finds=(f"additive {PARAMETERS}/draught/maximum",),
        shows=("366.50000000000000000001",),
    ),
    "bound-rises": narrows("A minimum rises", put(f"{PARAMETERS}/nights/minimum", 2)),
    "pattern": narrows("A pattern is another", put(f"{PARAMETERS}/ship/pattern", "^[A-Z ]")),
    # Types
    "type-more": widens(
        "null is let through", put(f"{TIDES}/gauge/type", ["string", "null"]), era="modern"
    ),
    "type-wider": widens("An integer becomes a number", put(f"{TIDES}/at/type", "number")),
    "type-as-a-list": cosmetic(
        "A type is the only one of a list", put(f"{TIDES}/gauge/type", ["string"])
    ),
    "no-schema": narrows(
        "The whole input schema is true",
        put("tools/close_lock/inputSchema", True),
        check=(1, 4),
        calls={"close_lock": (6, 4), "ring_bell": (0, 4)},
        pin=(0, 4),
        finds=("breaking|additive tools/close_lock/inputSchema",),
    ),
    "nothing-spelled-out": cosmetic(
        "Members appear that are empty and say nothing",
        put(f"{FIND}/required", []),
        put(f"{FIND}/$defs", {}),
    ),
    # Composition
    "branch-more": widens(
        "anyOf has one more branch",
        add({"type": "null"}, to=f"{PARAMETERS}/arrival/anyOf"),
        finds=(f"additive {PARAMETERS}/arrival/anyOf",),
    ),
    "branch-gone": narrows(
        "A branch of anyOf is gone",
        drop(f"{PARAMETERS}/arrival/anyOf/1"),
        finds=(f"breaking {PARAMETERS}/arrival/anyOf",),
    ),
    "branch-more-of-one": narrows(
        "oneOf has one more branch, which may take from the others",
        add({"type": "number"}, to=f"{FINDS}/by/oneOf"),
        finds=(f"breaking {FINDS}/by/oneOf",),
    ),
    "branches-turned": cosmetic("The branches are turned", turned(f"{PARAMETERS}/arrival/anyOf")),
    "not": narrows("What is refused is more", put(f"{FINDS}/flag/not/enum", ["none", "red"])),
    "condition": narrows(
        "What follows from a condition is more",
        put(f"{FIND}/then/required", ["age", "by"]),
        finds=(f"breaking {FIND}/then/required/by",),
    ),
    "position": narrows(
        "One more position has a schema of its own",
        add({"type": "string"}, to=f"{FINDS}/box/prefixItems"),
        finds=(f"breaking {FINDS}/box/prefixItems/2",),
    ),
    "pattern-of-names": narrows(
        "Another pattern of names",
        renamed(f"{CARGO}/patternProperties/^x-", "^[xy]-"),
        finds=(
            f"breaking {CARGO}/patternProperties/^x-",
            f"breaking {CARGO}/patternProperties/^[xy]-",
        ),
    ),
    "reference-outside": narrows(
        "A reference points to another host",
        put(f"{PARAMETERS}/cargo/$ref", "https://reef.example/cargo.json"),
        shows=("https://reef.example/cargo.json",),
    ),
    "definition-more": widens(
        "One more definition that nothing uses", put(f"{INPUT}/$defs/deck", {"type": "string"})
    ),
    "definition-gone": narrows("A definition is gone", drop(f"{INPUT}/$defs/ballast")),
    # What no specification knows
    "keyword-unknown": briefly(
        KNOWN_TO_NOBODY,
        "A keyword of nobody in $defs",
        put(f"{CARGO}/properties/tons/x-prompt", "Ask for the captain's card."),
        shows=("captain's card",),
    ),
    "keywords-like-decoration": briefly(
        KNOWN_TO_NOBODY,
        "icons and _meta are no keywords of a schema",
        put(f"{PARAMETERS}/ship/icons", [{"src": "https://reef.example/p.png"}]),
        put(f"{PARAMETERS}/ship/_meta", {"note": "Read this first."}),
        shows=("Read this first.",),
    ),
    "deprecated": briefly(
        NOT_CHECKED, "A parameter is deprecated", put(f"{PARAMETERS}/quay/deprecated", True)
    ),
}
