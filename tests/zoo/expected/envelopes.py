"""Ids, arrays, and what a response may look like."""

from zoo.expect import ECHO, PINNED, Case, Want, answers, broken_answer, same_for_all

WHOLE = Case(pin=PINNED)
LENIENT = Case(
    call=Want(status=(0, 4), out=ECHO),
    pin=Want(status=(0, 4), has=PINNED.has),
    old_check=Want(status=(0, 4)),
)


def refused(*says, status=(5, 4), **want):
    return broken_answer(status=status, says=says, **want)


CASES = {
    # The same number in another spelling.
    "string-id": WHOLE,
    "float-id": WHOLE,
    "exponent-id": WHOLE,
    # No answer has our id; the sentence shows the one that came.
    "id-zero": same_for_all(status=(4, 124), says=(r"id\W*0",), run={"start_timeout": 3}),
    "id-off": same_for_all(status=(4, 124), says=(r"id\W*\d",), run={"start_timeout": 3}),
    "id-true": same_for_all(status=(4, 124), says=(r"id\W*true",), run={"start_timeout": 3}),
    # An error that could not say to what is the answer to the only request that is open.
    "null-id-error": refused("could not read the request", "-32700", status=(5,)),
    "no-id-error": refused("could not read the request", "-32700", status=(5,)),
    # A result is not excused like that.
    "null-id-result": Case(
        call=Want(status=(124, 4), says=("may have run",), skipped="whose"), timeout=2
    ),
    "out-of-order": answers(out="mine\n"),
    "foreign-answer": Case(
        call=Want(
            status=(124,),
            says=("may have run",),
            skipped="987654",
            cancels=True,
            at_least=2,
        ),
        timeout=2,
    ),
    "dup-answer": answers(out="first\n"),
    "neither": broken_answer(),
    "both": refused(),
    "error-null": answers(out="fine\n"),
    "result-null": broken_answer(),
    "result-array": broken_answer(),
    "result-text": broken_answer(),
    "result-true": broken_answer(),
    "error-bad-code": refused("it broke"),
    "error-null-code": refused("it broke"),
    "error-no-code": refused("it broke"),
    "error-float-code": refused("it broke", r"-32000\.5\b", never=(r"\w\(",)),
    "error-no-words": refused("-32050"),
    "error-odd-words": refused("-32050"),
    "error-text": refused("it broke"),
    "error-empty": refused(),
    "error-false": refused(),
    "error-hostile": refused("no", "-1", status=(5,)),
    "error-endless": refused("word word", "-1", status=(5,)),
    "error-lone-half": refused("half .+ bird", status=(5,)),
    # Lenient, or a failure at once that says why.
    "no-jsonrpc": LENIENT,
    "jsonrpc-one": LENIENT,
    "surplus-members": answers(out="fine\n"),
    # Taken apart, or refused at once.
    "batch": broken_answer(status=(0, 4), out="batched\n"),
    "two-batches": broken_answer(status=(0, 4), out="batched\n"),
    "batch-with-ping": broken_answer(status=(0, 4), out="batched\n"),
    "nested-batch": broken_answer(status=(4, 124), timeout=2, within=8),
    "empty-batch": broken_answer(status=(0, 4), out="after it\n"),
}
