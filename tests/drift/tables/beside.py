"""Prompts, resources and templates: more, less, and with other arguments."""

from drift.cases import ADDITIVE, BREAKING, briefly, cosmetic
from drift.edits import add, drop, instead_of, put, refuses, renamed, turned

CAPTAIN = "prompts/brief_captain"
CHART = "resources/chart:today"
BERTH = "resourceTemplates/berth:{number}"

CASES = {
    "prompt-gone": briefly(
        BREAKING, "The prompts are gone", put("prompts", []), finds=(f"breaking {CAPTAIN}",)
    ),
    "prompt-new": briefly(
        ADDITIVE,
        "A prompt is new",
        add({"name": "pirate", "description": "Speak as one."}, to="prompts"),
        shows=("Speak as one.",),
        era="modern",
    ),
    "no-prompts-at-all": briefly(
        BREAKING,
        "The server does not say any more that it has prompts",
        drop("capabilities/prompts"),
        finds=(f"breaking {CAPTAIN}",),
        era="legacy",
    ),
    "argument-gone": briefly(
        BREAKING, "An argument of a prompt is gone", drop(f"{CAPTAIN}/arguments/tone")
    ),
    "argument-needed": briefly(
        BREAKING,
        "An argument of a prompt has to be given",
        put(f"{CAPTAIN}/arguments/tone/required", True),
    ),
    "argument-not-needed": briefly(
        ADDITIVE,
        "An argument of a prompt may be left out",
        put(f"{CAPTAIN}/arguments/ship/required", False),
    ),
    "argument-spelled-out": cosmetic(
        "It is said that an argument may be left out",
        put(f"{CAPTAIN}/arguments/tone/required", False),
    ),
    "resource-new": briefly(
        ADDITIVE,
        "A resource is new",
        add({"uri": "log:all", "name": "log"}, to="resources"),
        shows=("log:all",),
    ),
    "resource-elsewhere": briefly(
        BREAKING,
        "A resource has another address",
        renamed(CHART, "chart:Today"),
        finds=(f"breaking {CHART}", "additive resources/chart:Today"),
        era="modern",
    ),
    "template-elsewhere": briefly(
        BREAKING,
        "A template takes another variable",
        renamed(BERTH, "berth:{+number}"),
        finds=(
            f"breaking {BERTH}",
            "additive resourceTemplates/berth:{+number}",
        ),
    ),
    "templates-unknown": briefly(
        BREAKING,
        "Templates are refused as an unknown method",
        instead_of("resourceTemplates", 1, refuses(-32601)),
        check=(1, 4),
        pin=(0, 4),
        finds=(f"breaking {BERTH}",),
    ),
    "arguments-turned": cosmetic(
        "The arguments of a prompt are in another order",
        turned(f"{CAPTAIN}/arguments"),
    ),
    "no-resources-at-all": briefly(
        BREAKING,
        "The server does not say any more that it has resources",
        drop("capabilities/resources"),
        finds=(f"breaking {CHART}", f"breaking {BERTH}"),
    ),
}
