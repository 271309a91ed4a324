"""Results of a call."""

from zoo.expect import PINNED, Case, Want, answers, broken_answer

PIXEL = "iVBORw0KGgoAAAAAAAAAAAAAAAAAAAAA"
MEDIA = (
    '{"content":[{"type":"text","text":"look"},'
    f'{{"type":"image","data":"{PIXEL}","mimeType":"image/png"}},'
    f'{{"type":"audio","data":"{PIXEL}","mimeType":"audio/wav"}},'
    '{"type":"resource","resource":'
    '{"uri":"file:///a.txt","mimeType":"text/plain","text":"inside"}},'
    '{"type":"resource","resource":'
    f'{{"uri":"file:///a.csv","mimeType":"text/csv","blob":"{PIXEL}"}}}},'
    '{"type":"resource_link","uri":"file:///b","name":"b"},'
    '{"type":"hologram","beam":[1,2]}]}'
)
NO_ESCAPE = ("[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\u200b\u202e\U000e0041]",)
SECRET = "zoo-value-4711-for-nobody"


def shown_or_refused(*has):
    """Make the case of a part of the wrong shape: not usable, or shown as it is."""
    return broken_answer(status=(4, 0), out_has=has)


CASES = {
    "is-error": answers(status=(1,), out="disk full\ntry later\n"),
    "is-error-silent": answers(status=(1,), out=""),
    # null means as much as nothing; anything else that is not false is not success.
    "is-error-null": answers(status=(0, 4), out="fine\n"),
    "is-error-word": answers(status=(4, 1), out="not fine\n"),
    "is-error-number": answers(status=(4, 1), out="not fine\n"),
    "structured-only": answers(
        out_json='{"answer":42}', json='{"content":[],"structuredContent":{"answer":42}}'
    ),
    "structured-null": answers(
        out="only text\n",
        json='{"content":[{"type":"text","text":"only text"}],"structuredContent":null}',
    ),
    "structured-both": answers(out="words\n"),
    # Nothing on stdout, and a word about it on stderr.
    "empty-content": answers(out="", warns=(r"\S",), json='{"content":[]}'),
    "empty-text": answers(out="\n", json='{"content":[{"type":"text","text":""}]}'),
    "no-content": broken_answer(),
    "content-object": broken_answer(),
    "content-text": broken_answer(),
    "content-null": broken_answer(),
    "text-number": shown_or_refused("42"),
    "text-missing": shown_or_refused("text"),
    "type-missing": shown_or_refused("typeless"),
    "content-stranger": shown_or_refused("^one\\n", "two", "four"),
    # The size of what cannot be decoded is not known.
    "bad-base64": broken_answer(
        status=(0, 4),
        out_lines=1,
        out_has=("image/png",),
        tells=("(?i)base64|invalid|not valid|damaged|broken|unreadable|no data",),
    ),
    "data-missing": broken_answer(
        status=(0, 4), out_lines=1, out_has=("image",), never=(r"\b[1-9]\d* bytes",)
    ),
    "big-image": answers(
        out_lines=1, out_has=("image/png", "51200|5120024|5.1|4.9|4.88"), within=8
    ),
    # The text, one line for each other part, and no base64.
    "media": answers(
        out_lines=7,
        out_has=("^look\\n", "image/png", "audio/wav", "text/csv", "hologram"),
        never=(PIXEL[:20],),
        json=MEDIA,
    ),
    "hostile-media": answers(out_lines=4, out_has=("image",), never=(*NO_ESCAPE, PIXEL[:20])),
    "path-media": answers(out_lines=4, never=(PIXEL[:20],)),
    # The tool did run, whatever its schema says.
    "bad-output": Case(call=Want(out="it did happen\n"), pin=Want(has=("echo", "outputSchema"))),
    "rpc-error": answers(status=(5,), says=("-32602", "must not be a giraffe", "path")),
    # Masked where thrall repeats it; the server's own line is the server's affair.
    "secret": Case(
        call=Want(
            status=(5,),
            says=("-32001",),
            never=(SECRET,),
            server_says=("401 from upstream, token was .*",),
        ),
        pin=Want(has=PINNED.has, has_not=(SECRET,), never=(SECRET,)),
        server_env={"ZOO_SECRET": SECRET},
    ),
}
