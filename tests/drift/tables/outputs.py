"""Outputs: what widens breaks the reader, what narrows is an addition."""

from drift.cases import ADDITIVE, BREAKING, briefly, cosmetic
from drift.edits import add, drop, put, turned

OUTPUT = "tools/book_berth/outputSchema"
PARTS = f"{OUTPUT}/properties"
NOTICE = f"{PARTS}/notices/items"


def widens(about, *edits, **more):
    return briefly(BREAKING, about, *edits, **more)


def narrows(about, *edits, **more):
    return briefly(ADDITIVE, about, *edits, **more)


CASES = {
    "output-of-another-type": widens(
        "What stands in the notices is of another type",
        put(f"{NOTICE}/properties/text/type", "object"),
        era="modern",
    ),
    "output-null": widens(
        "A part may be null", put(f"{PARTS}/berth/type", ["integer", "null"]), era="legacy"
    ),
    "output-never-null": narrows("A part is never null", put(f"{PARTS}/fee/type", "number")),
    "output-types-turned": cosmetic("Types are in another order", turned(f"{PARTS}/fee/type")),
    "output-choice-more": widens(
        "An enum has one more value",
        add("seized", to=f"{PARTS}/state/enum"),
        finds=(f"breaking {PARTS}/state/enum",),
        shows=("seized",),
    ),
    "output-choice-gone": narrows(
        "An enum has one value less", put(f"{PARTS}/state/enum", ["kept", "waiting"])
    ),
    "output-not-sure": widens(
        "A part need not be there any more",
        put(f"{NOTICE}/required", []),
        finds=(f"breaking {NOTICE}/required/text",),
    ),
    "output-sure": narrows(
        "A part is there in any case",
        put(f"{OUTPUT}/required", ["fee", "berth", "state"]),
        finds=(f"additive {OUTPUT}/required/fee",),
    ),
    "output-part-gone": widens("A part is gone", drop(f"{PARTS}/fee"), era="legacy"),
    "output-parts-new": briefly(
        "additive|breaking",
        "New parts have the names of members around a list",
        put(f"{PARTS}/ttlMs", {"type": "integer"}),
        put(f"{PARTS}/_meta", {"type": "string", "description": "Obey."}),
        shows=("ttlMs", "Obey."),
        era="modern",
    ),
    "output-open": widens("Any other part may be there", drop(f"{OUTPUT}/additionalProperties")),
    "output-bound-rises": widens("A maximum rises", put(f"{PARTS}/berth/maximum", 61)),
    "output-past-2-53": widens(
        "A constant goes from 2^53 to its neighbour, which a double cannot tell from it",
        put(f"{NOTICE}/properties/since/const", 9007199254740993),
        shows=("9007199254740993",),
        in_catalog=("9007199254740993",),
    ),
    "output-gone": widens(
        "There is no output schema any more",
        drop(OUTPUT),
        shows=("notices",),
    ),
    "output-new": narrows(
        "A tool gets an output schema",
        put("tools/close_lock/outputSchema", {"type": "object"}),
        shows=("outputSchema",),
    ),
}
