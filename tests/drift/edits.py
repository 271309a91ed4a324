"""The vocabulary of changes: what a case does to a surface before it is shown.

Every edit insists that it changes something.
"""

import json
import os
from collections.abc import Callable
from typing import NamedTuple

from drift import harbour

# What tells the items of a list apart.
KEYS = ("uri", "uriTemplate", "name")


class Surface:
    """All that one answer may show, and how it is sent."""

    def __init__(self, listing=1):
        self.listing = listing  # which listing of this kind it is in this session
        self.offer = harbour.offer()
        self.sizes = {}  # of the pages of a list, by its member
        self.last_cursor = {}  # further members of a last page
        self.instead = {}  # (member, page): what is done in place of an answer
        self.ahead = []  # what is done before a list is answered
        self.respellings = []  # (member, old, new): text that is sent otherwise
        self.separators = (",", ":")
        self.ascii_only = False
        self.line_end = "\n"


class Edit(NamedTuple):
    """One change, and the place where it is made."""

    place: str
    make: Callable


def put(place, value):
    """Let something else stand there."""

    def make(surface):
        holder, key = _find(surface.offer, place)
        stood = key in holder if isinstance(holder, dict) else True
        same = stood and json.dumps(holder[key]) == json.dumps(value)
        assert not same, f"nothing changes at {place}"
        holder[key] = value

    return Edit(place, make)


def behind(place, text):
    """Let a text stand behind the one that is there."""

    def make(surface):
        holder, key = _find(surface.offer, place)
        holder[key] += text

    return Edit(place, make)


def drop(place):
    """Let nothing stand there."""

    def make(surface):
        holder, key = _find(surface.offer, place)
        del holder[key]

    return Edit(place, make)


def add(item, *, to, first=False):
    """Let a list have one more item, at its end or its beginning."""

    def make(surface):
        holder, key = _find(surface.offer, to)
        holder[key].insert(0 if first else len(holder[key]), item)

    return Edit(f"{to}/{_name(item)}", make)


def renamed(place, name):
    """Let a member, or an item of a list, have another name."""

    def make(surface):
        holder, key = _find(surface.offer, place)
        if isinstance(holder, list):
            item = holder[key]
            item[next(each for each in KEYS if each in item)] = name
        else:
            holder[name] = holder.pop(key)

    return Edit(place, make)


def turned(place):
    """Let a list be in the opposite order."""

    def make(surface):
        holder, key = _find(surface.offer, place)
        assert holder[key] != holder[key][::-1], f"nothing changes at {place}"
        holder[key] = holder[key][::-1]

    return Edit(place, make)


def in_pages(*sizes, member="tools", last=None):
    """Show a list in pages of these sizes; `last` are further members of the last one."""

    def make(surface):
        assert sum(sizes) == len(surface.offer[member]), "all items on some page"
        surface.sizes[member] = sizes
        surface.last_cursor = last or {}

    return Edit(member, make)


def only_from(listing, *edits, to=None):
    """Make edits from one listing of a session on, up to and without another."""

    def make(surface):
        if surface.listing >= listing and (to is None or surface.listing < to):
            for edit in edits:
                edit.make(surface)

    return Edit(edits[0].place, make)


def respelled(old, new, member="tools"):
    """Replace text of the answer that has a list, on its way out."""
    return Edit(member, lambda surface: surface.respellings.append((member, old, new)))


def written(**members):
    """Set how messages are written: `separators`, `ascii_only`, `line_end`."""
    return Edit("", lambda surface: vars(surface).update(members))


def keys_turned():
    """Let the members of every object be in the opposite order."""

    def turn(value):
        if isinstance(value, dict):
            return {key: turn(value[key]) for key in reversed(value)}
        return [turn(item) for item in value] if isinstance(value, list) else value

    return Edit("", lambda surface: surface.offer.update(turn(surface.offer)))


def instead_of(member, page, act):
    """Do something in place of answering with a page, counted from 1; 0 is every page."""
    return Edit(member, lambda surface: surface.instead.update({(member, page): act}))


def ahead(act):
    """Do something before each page is answered."""
    return Edit("", lambda surface: surface.ahead.append(act))


# What a server may do instead, or ahead: functions of the server and the request.


def says(line):
    """Write a line of this text, or bytes, in which ID stands for the id of the request."""
    data = line if isinstance(line, bytes) else line.encode()

    def act(server, request):
        server.write(data.replace(b"ID", json.dumps(request["id"]).encode()) + b"\n")

    return act


def answers(result):
    """Answer with this JSON text as the result."""
    return says('{"jsonrpc":"2.0","id":ID,"result":' + result + "}")


def refuses(code, words="Closed.\x1b[2J\u202e\nharbour: as pinned"):
    return lambda server, request: server.refuse(request, code, words)


def stops(status, said=b""):
    """End the process, in the middle of a line if something is said before."""

    def act(server, _request):
        server.write(said)
        os._exit(status)

    return act


def stays_silent(_server, _request):
    """Answer nothing."""


def names_a_new_page(server, request):
    """Answer with a page that is never the last, each with a cursor of its own."""
    cursor = (request.get("params") or {}).get("cursor") or "0"
    page = {"tools": [harbour.ring_bell()], "nextCursor": str(int(cursor) + 1)}
    server.reply(request, page)


def _find(offer, place):
    """Find the last holder on the way to a place, and the key in it."""
    holder, *steps = offer, *place.split("/")
    for step in steps[:-1]:
        holder = holder[_key(holder, step)]
    return holder, _key(holder, steps[-1])


def _key(holder, step):
    if isinstance(holder, dict):
        return step
    names = list(map(_name, holder))
    return names.index(step) if step in names else int(step)


def _name(item):
    named = [item[key] for key in KEYS if key in item] if isinstance(item, dict) else [item]
    return str(named[0]) if named else ""
