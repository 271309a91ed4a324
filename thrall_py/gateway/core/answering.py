"""Maps a client's request to what is answered, or to what is asked upstream. Pure.

What a catalog can tell is told from it: the handshakes, the lists, and that there is no such tool.
"""

import functools
import json
from collections.abc import Callable
from typing import NamedTuple

from thrall_py.catalog import nearest
from thrall_py.gateway.caller import Facts
from thrall_py.gateway.core import envelope
from thrall_py.gateway.core.incoming import Request, verbatim
from thrall_py.gateway.core.offer import Offer, Offered, Offering
from thrall_py.protocol import mcp
from thrall_py.protocol.jsontext import Value
from thrall_py.redact import Redactor

_COMPARED = 200  # names; to find the nearest of 1,000 takes 50 ms, and all clients wait
_NOTHING_TO_COMPLETE = '"completion":{"values":[],"total":0,"hasMore":false}'


class Answer(NamedTuple):
    """An outcome: a `"result"` or an `"error"` member as JSON text.

    Attributes:
        outcome: the member.
        facts: what the client is from now on, if the request said so (a handshake, a log level).

    """

    outcome: str
    facts: Facts | None = None


class Forward(NamedTuple):
    """A request that a server has to answer.

    Attributes:
        server: its name in the catalog.
        method: tools/call, prompts/get, resources/read or completion/complete.
        name: that the server has for what is asked for; of a resource its address, or that of the
            template which makes the address.
        members: the members of the params as JSON text, without braces, and without `_meta`,
            `inputResponses` and `requestState`: those are the relay's.
        kind: of what is asked for.

    """

    server: str
    method: str
    name: str
    members: str
    kind: mcp.Kind = mcp.TOOLS


Handler = Callable[[Request, Facts, Offer], Answer | Forward]


def answer(request: Request, facts: Facts, offer: Offer) -> Answer | Forward:
    """Answer a request, or say who has to.

    Args:
        request: what is asked; with an envelope it is of 2026-07-28, whatever was before.
        facts: what the client said in its handshake; those of an envelope count instead.
        offer: what there is.

    """
    modern = envelope.is_modern(request)
    if modern:
        fault = envelope.incomplete(request) or envelope.unsupported(request)
        if fault:
            return Answer(fault)
        facts = envelope.facts_of(request)
    elif not facts.revision and request.method not in _BEFORE_HANDSHAKE:
        return _unopened(request)
    handler = (_MODERN if modern else _LEGACY).get(request.method)
    return handler(request, facts, offer) if handler else Answer(unknown_method(request))


def is_known(method: str) -> bool:
    """Tell whether a method is one of 2026-07-28 that is served."""
    return method in _MODERN


def unknown_method(request: Request) -> str:
    """Make the error for a method that is not served, or not in the revision of the request."""
    shown = Redactor().quoted(request.method)
    return envelope.error(mcp.METHOD_NOT_FOUND, f"there is no method {shown} here")


def _unopened(request: Request) -> Answer:
    """The error for what comes too early; a probe for the other era may find its way by it."""
    shown = Redactor().quoted(request.method)
    words = (
        f"{shown} needs a session or an envelope: send initialize"
        f" ({', '.join(mcp.LEGACY)}), or params._meta of {mcp.MODERN}"
    )
    return Answer(
        envelope.error(mcp.INVALID_PARAMS, words, json.dumps({"supported": mcp.REVISIONS}))
    )


def _invalid(words: str) -> Answer:
    return Answer(envelope.error(mcp.INVALID_PARAMS, words))


def _initialize(request: Request, _facts: Facts, offer: Offer) -> Answer:
    wanted, capabilities = _param(request, "protocolVersion"), _param(request, "capabilities")
    asked = wanted.string() if wanted else None
    if asked is None:
        return _invalid('initialize needs the text "protocolVersion"')
    if capabilities and capabilities.first != "{":
        return _invalid('"capabilities" should be an object')
    revision = asked if asked in mcp.LEGACY else mcp.LEGACY[0]
    members = f'"protocolVersion":"{revision}",{_about(offer, revision)}'
    members += f',"serverInfo":{envelope.SERVER_INFO}'
    facts = Facts(revision, verbatim(capabilities) if capabilities else "{}")
    return Answer(envelope.result(members, facts), facts)


def _discover(_request: Request, facts: Facts, offer: Offer) -> Answer:
    members = f'"supportedVersions":["{mcp.MODERN}"],{_about(offer, mcp.MODERN)}'
    return Answer(envelope.listed(members, facts))


def _about(offer: Offer, revision: str) -> str:
    """What there is, and how it is used: the part that both openings have in common."""
    names = ["tools", "logging"]
    if revision != "2024-11-05":
        names.append("completions")
    if offer.prompts:
        names.append("prompts")
    if offer.items[mcp.RESOURCES.member] or offer.templates:
        names.append("resources")
    members = ",".join(f'"{name}":{{}}' for name in sorted(names))
    told = f',"instructions":{offer.instructions}' if offer.instructions else ""
    return f'"capabilities":{{{members}}}{told}'


def _nothing(_request: Request, facts: Facts, _offer: Offer) -> Answer:
    return Answer(envelope.result("", facts))


def _set_level(request: Request, facts: Facts, _offer: Offer) -> Answer:
    wanted = _param(request, "level")
    level = wanted.string() if wanted else None
    if level not in envelope.LEVELS:
        return _invalid(f'"level" should be one of {", ".join(envelope.LEVELS)}')
    return Answer(envelope.result("", facts), facts._replace(log_level=level))


def _list(kind: mcp.Kind, request: Request, facts: Facts, offer: Offer) -> Answer:
    cursor = _param(request, "cursor")
    place = (cursor.string() or "") if cursor and cursor.first != "n" else None
    page = offer.page(kind, place)
    if page is None:
        return _invalid('"cursor" is of no page: begin again without one')
    return Answer(envelope.listed(page, facts))


def _call(request: Request, _facts: Facts, offer: Offer) -> Answer | Forward:
    return _named(request, "tool", offer.tools, ',"arguments":{}')


def _prompt(request: Request, _facts: Facts, offer: Offer) -> Answer | Forward:
    return _named(request, "prompt", offer.prompts, "")


def _named(
    request: Request, what: str, offering: Offering, without_arguments: str
) -> Answer | Forward:
    """Find a tool or a prompt by its name, and have its server get the arguments as they came."""
    name = _text_param(request, "name")
    found = offering.get(name or "")
    if name is None:
        return _invalid(f'the text "name" should say which {what}')
    if found is None:
        near = nearest.hint(name, list(offering)) if len(offering) <= _COMPARED else ""
        return _invalid(f"there is no {what} {Redactor().quoted(name)}{near}")
    arguments = _param(request, "arguments")
    if arguments and arguments.first != "{":
        return _invalid('"arguments" should be an object, {} for none')
    more = f',"arguments":{verbatim(arguments)}' if arguments else without_arguments
    return _forward(request, found, f'"name":{json.dumps(found.name)}{more}')


def _read(request: Request, facts: Facts, offer: Offer) -> Answer | Forward:
    address = _text_param(request, "uri")
    found = offer.resource(address) if address else None
    if address is None or found is None:
        return _no_resource(address, facts)
    return _forward(request, found, f'"uri":{json.dumps(address)}')


def _subscribe(request: Request, facts: Facts, offer: Offer) -> Answer:
    """Agree to tell of changes of a resource: none is told, and none is promised (`subscribe`)."""
    address = _text_param(request, "uri")
    if not address or not offer.resource(address):
        return _no_resource(address, facts)
    return _nothing(request, facts, offer)


def _no_resource(address: str | None, facts: Facts) -> Answer:
    if address is None:
        return _invalid('the text "uri" should say which resource')
    is_modern = facts.revision == mcp.MODERN
    code = mcp.INVALID_PARAMS if is_modern else envelope.RESOURCE_NOT_FOUND
    words = f"there is no resource {Redactor().quoted(address)}"
    return Answer(envelope.error(code, words, json.dumps({"uri": address})))


def _complete(request: Request, facts: Facts, offer: Offer) -> Answer | Forward:
    """Let the server of a prompt or of a template propose values; of others nobody knows any."""
    ref, argument = _param(request, "ref"), _param(request, "argument")
    context = _param(request, "context")
    if not ref or ref.first != "{" or not argument or argument.first != "{":
        return _invalid('completion/complete needs the objects "ref" and "argument"')
    name, address = ref.member_string("name"), ref.member_string("uri")
    if ref.member_string("type") == "ref/prompt":
        found = offer.prompts.get(name or "")
        place = f'"type":"ref/prompt","name":{json.dumps(found.name)}' if found else ""
    else:
        found = offer.templates.get(address or "")
        place = f'"type":"ref/resource","uri":{json.dumps(address)}'
    if found is None:
        return Answer(envelope.result(_NOTHING_TO_COMPLETE, facts))
    members = f'"ref":{{{place}}},"argument":{verbatim(argument)}'
    members += f',"context":{verbatim(context)}' if context else ""
    return _forward(request, found, members)


def _forward(request: Request, about: Offered, members: str) -> Forward:
    return Forward(about.server, request.method, about.name, members, about.kind)


def _param(request: Request, name: str) -> Value | None:
    return request.params.member(name) if request.params else None


def _text_param(request: Request, name: str) -> str | None:
    value = _param(request, name)
    return value.string() if value else None


_SERVED: dict[str, Handler] = {
    **{kind.method: functools.partial(_list, kind) for kind in mcp.KINDS},
    "tools/call": _call,
    "prompts/get": _prompt,
    "resources/read": _read,
    "completion/complete": _complete,
}
# Without subscriptions/listen: no change of a list is advertised (2026-07-28, "Subscriptions").
_MODERN: dict[str, Handler] = {"server/discover": _discover, **_SERVED}
_LEGACY: dict[str, Handler] = {
    "initialize": _initialize,
    "ping": _nothing,
    "logging/setLevel": _set_level,
    "resources/subscribe": _subscribe,
    "resources/unsubscribe": _subscribe,
    **_SERVED,
}
_BEFORE_HANDSHAKE = ("initialize", "ping")
