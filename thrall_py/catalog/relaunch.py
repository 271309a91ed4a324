"""What a new pin changes about how a server is started or reached, in lines. Pure.

Of an argv only the first word is told, of an environment and of headers only names, of a URL
neither userinfo nor query: the other words are where secrets stand.
"""

from collections.abc import Iterator, Mapping, Sequence

from thrall_py.catalog.entry import Entry
from thrall_py.catalog.launch import EntrySpec, ExecSpec, LaunchSpec, UrlSpec
from thrall_py.redact import Redactor

_SHOWN = 300  # characters of a side
_MOST = 10  # places, or names, in one line

Sides = tuple[str, str]


def describe(before: Entry, after: Entry, redact: Redactor) -> Iterator[str]:
    """Make a line for each part that changed, and two below it where both sides may be told.

    Args:
        before: the earlier pin.
        after: the new one, in its place.
        redact: makes words fit to be repeated.

    """
    match before.launch, after.launch:
        case LaunchSpec() as old, LaunchSpec() as new:
            yield from _started(old, new, redact)
        case ExecSpec() as old, ExecSpec() as new:
            yield from _started(old.run, new.run, redact)
        case UrlSpec() as old, UrlSpec() as new:
            yield from _url(old, new, redact)
            yield from _names("headers", old.headers, new.headers, redact)
        case _:
            yield from _sides("server", (_how(before.launch), _how(after.launch)), redact)
    declared = [", ".join(entry.modes) or "none" for entry in (before, after)]
    yield from _sides("elicitation", (declared[0], declared[1]), redact)


def _started(old: LaunchSpec, new: LaunchSpec, redact: Redactor) -> Iterator[str]:
    yield from _command(old.command, new.command, redact)
    yield from _sides("cwd", (old.cwd or "none", new.cwd or "none"), redact)
    yield from _sides("cleanEnv", (_word(old.clean_env), _word(new.clean_env)), redact)
    yield from _names("env", old.env, new.env, redact)


def _command(old: Sequence[str], new: Sequence[str], redact: Redactor) -> Iterator[str]:
    yield from _sides("command", (old[0], new[0]), redact)
    if old[1:] == new[1:]:
        return
    pairs = enumerate(zip(old[1:], new[1:], strict=False), 2)
    places = [place for place, (one, other) in pairs if one != other]
    if len(old) != len(new):
        first = places[0] if places else min(len(old), len(new)) + 1
        yield f"command: changed from word {first} on (it was {len(old)} long, it is {len(new)})"
    else:
        words = "words" if places[1:] else "word"
        yield f"command: changed, {words} {_listed(list(map(str, places)))}"


def _url(old: UrlSpec, new: UrlSpec, redact: Redactor) -> Iterator[str]:
    told = list(_sides("url", (old.shown, new.shown), redact))
    if not told and old.url != new.url:
        told = ["url: changed, in its user or its query, which are not shown"]
    yield from told


def _names(
    what: str, old: Mapping[str, str], new: Mapping[str, str], redact: Redactor
) -> Iterator[str]:
    """Tell the names whose values came, went or changed, and no value."""
    both = sorted(old.keys() | new.keys())
    for verb, names in (
        ("added", [name for name in both if name not in old]),
        ("removed", [name for name in both if name not in new]),
        (
            "changed",
            [name for name in both if name in old and new.get(name, old[name]) != old[name]],
        ),
    ):
        if names:
            yield f"{what}: {verb}, {_listed([redact.plain(name) for name in names])}"


def _sides(what: str, sides: Sides, redact: Redactor) -> Iterator[str]:
    if sides[0] == sides[1]:
        return
    yield f"{what}: changed"
    for sign, side in zip("-+", sides, strict=True):
        yield f"  {sign} {redact.plain(side, _SHOWN)}"


def _how(spec: EntrySpec) -> str:
    return f"{'reached' if isinstance(spec, UrlSpec) else 'started'}: {spec.shown}"


def _word(flag: bool) -> str:  # noqa: FBT001 - it is what is spelled
    return "true" if flag else "false"


def _listed(words: Sequence[str]) -> str:
    more = f" and {len(words) - _MOST} more" if len(words) > _MOST else ""
    return ", ".join(words[:_MOST]) + more
