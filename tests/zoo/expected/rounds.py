"""Results of several rounds, and other kinds of result (2026-07-28)."""

from zoo.expect import answers, broken_answer

ASKS = {"status": (7,), "says": ("Your name",)}

CASES = {
    # It says what is asked; the call is not repeated.
    "input-required": answers(**ASKS),
    "input-no-state": answers(**ASKS),
    "input-legacy": answers(status=(7, 4)),
    "input-hostile": answers(status=(7,), says=("Your",)),
    "input-roots": answers(status=(7,), says=("roots", "sampling")),
    "input-list": broken_answer(status=(4, 7)),
    "input-nothing": broken_answer(),
    # A new id, and the same state.
    "input-state": answers(out="resumed\n", calls=2, logs=("state",)),
    "input-three-rounds": answers(out="resumed\n", calls=4),
    # A limit of rounds ends it.
    "input-endless": answers(status=(4,), calls=25, within=15),
    "result-task": broken_answer(says=("task",)),
    "result-type-number": broken_answer(),
    "result-type-hostile": broken_answer(),
    "result-type-missing": answers(out="fine\n"),
    "missing-capability": broken_answer(status=(5, 7), says=("-32021|elicitation",)),
    "structured-scalar": answers(out_json='"scalar"'),
}
