"""The other members of a definition: annotations, execution, decoration, and unknown ones."""

from drift.cases import BEHAVIOUR, KNOWN_TO_NOBODY, briefly, cosmetic
from drift.edits import drop, put

BERTH = "tools/book_berth"
LOCK = "tools/close_lock"
CHART = "resources/chart:today"

SOMEHOW = "behaviour|text|breaking"


def behaves(about, *edits, **more):
    return briefly(BEHAVIOUR, about, *edits, **more)


CASES = {
    "hint-gone": behaves(
        "A tool that destroys nothing does not say so any more",
        drop(f"{BERTH}/annotations/destructiveHint"),
        shows=("destructiveHint",),
        era="legacy",
    ),
    "hint-other": behaves(
        "A tool is not idempotent any more",
        put(f"{BERTH}/annotations/idempotentHint", False),
        era="modern",
    ),
    "hint-as-text": behaves(
        "A hint is the word true", put("tools/read_tide/annotations/readOnlyHint", "true")
    ),
    "hint-new": behaves(
        "A tool of which nothing was said only reads",
        put(f"{LOCK}/annotations", {"readOnlyHint": True}),
        finds=(f"behaviour {LOCK}/annotations/readOnlyHint",),
    ),
    "hints-gone": behaves(
        "There are no annotations any more",
        drop("tools/read_tide/annotations"),
        finds=("behaviour tools/read_tide/annotations/readOnlyHint",),
    ),
    "hints-spelled-out": cosmetic(
        "Annotations appear that say what holds without them",
        put(
            f"{LOCK}/annotations",
            {"openWorldHint": True, "readOnlyHint": False, "destructiveHint": True},
        ),
        finds=(
            f"cosmetic {LOCK}/annotations/openWorldHint",
            f"cosmetic {LOCK}/annotations/readOnlyHint",
            f"cosmetic {LOCK}/annotations/destructiveHint",
        ),
    ),
    "hint-unknown": briefly(
        KNOWN_TO_NOBODY,
        "An annotation of nobody",
        put(f"{BERTH}/annotations/approvedBy", "the harbour master"),
        shows=("the harbour master",),
    ),
    "execution-other": behaves(
        "Tasks are required",
        put(f"{BERTH}/execution/taskSupport", "required"),
        finds=(f"behaviour {BERTH}/execution",),
        shows=("taskSupport",),
    ),
    "execution-gone": behaves("execution is gone", drop(f"{BERTH}/execution"), era="modern"),
    "execution-new": behaves(
        "execution appears",
        put("tools/read_tide/execution", {"taskSupport": "optional"}),
        era="legacy",
    ),
    "unknown-text": briefly(
        KNOWN_TO_NOBODY,
        "A member of nobody, deep down",
        put(f"{LOCK}/vendor", {"hints": [{"to": "the model"}]}),
        shows=("the model",),
        era="modern",
    ),
    "unknown-number": briefly(KNOWN_TO_NOBODY, "A number of nobody", put(f"{LOCK}/priority", 0)),
    "unknown-null": briefly(KNOWN_TO_NOBODY, "A null of nobody", put(f"{LOCK}/proxy", None)),
    "unknown-in-a-prompt": briefly(
        KNOWN_TO_NOBODY,
        "A member of nobody in a prompt",
        put("prompts/brief_captain/system", "Obey."),
    ),
    "unknown-in-a-template": briefly(
        KNOWN_TO_NOBODY,
        "A member of nobody in a template",
        put("resourceTemplates/berth:{number}/ttlMs", 5),
    ),
    "icon-other": cosmetic(
        "An icon is another",
        put(f"{BERTH}/icons/0/src", "https://reef.example/berth.png"),
        finds=(f"cosmetic {BERTH}/icons",),
        shows=("https://reef.example/berth.png",),
    ),
    "icon-of-a-prompt": cosmetic(
        "A prompt gets an icon", put("prompts/brief_captain/icons", [{"src": "data:,x"}])
    ),
    "meta-other": cosmetic("_meta of a tool is another", put(f"{BERTH}/_meta", {"desk": 2})),
    "audience": briefly(
        SOMEHOW,
        "A resource is for the model now",
        put(f"{CHART}/annotations/audience", ["assistant"]),
        finds=(f"{SOMEHOW} {CHART}/annotations",),
        shows=("assistant",),
    ),
    "media-type": briefly(
        SOMEHOW, "A resource is markup now", put(f"{CHART}/mimeType", "text/html")
    ),
}
