"""The catalog file: one format, one reader, one atomic writer (thrall-catalog(5)).

Made to be reviewed in a pull request: ASCII, so that a hidden character shows; whole definitions,
so that a difference can be shown and not just announced; one order and one spelling, so that the
same server makes the same bytes.
"""

import contextlib
import fcntl
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from thrall_py.catalog import codec, nearest
from thrall_py.catalog.entry import WORDS, Entry
from thrall_py.errors import CatalogError
from thrall_py.protocol import canonical, jsontext
from thrall_py.protocol.jsontext import Json, JsonError
from thrall_py.visible import visible

FORMAT = 1
_SHOWN = 300  # characters of what is wrong
STDOUT = "-"
_LARGEST = 1 << 28  # bytes
_RANDOM = 4  # bytes in the name of a temporary file


class Catalog(NamedTuple):
    """The servers of a catalog by name, and the classes of drift that its policy lets pass."""

    servers: dict[str, Entry]
    allow: tuple[str, ...] = ()


def read(path: str, *, may_be_edited: bool = False) -> Catalog:
    """Read a catalog, whole and checked.

    Args:
        path: of the file.
        may_be_edited: take definitions without their digests, too, as they stand there: for those
            who put something else in their place. Written again they are still refused.

    Raises:
        CatalogError: it is missing, damaged, of another format, or edited so that a digest does
            not fit its definition.

    """
    return loads(content(path), path, may_be_edited=may_be_edited)


def content(path: str) -> bytes:
    """Read the bytes of a catalog.

    Raises:
        CatalogError: it is missing, or larger than a catalog may be.

    """
    try:
        with open(path, "rb") as file:
            data = file.read(_LARGEST + 1)
    except OSError as problem:
        raise CatalogError(f"cannot read {visible(path)}: {problem.strerror}") from None
    if len(data) > _LARGEST:
        raise CatalogError(f"{visible(path)} is larger than a catalog may be, {_LARGEST} bytes")
    return data


def read_for_update(path: str) -> Catalog:
    """Read the catalog that is to be written: an empty one if there is none yet.

    What was edited in it can be pinned again, so that is no reason to refuse it.

    Raises:
        CatalogError: what is there is no catalog, or no file could be put there.

    """
    if path == STDOUT:
        return Catalog({})
    folder, target = _place(path)
    if not os.path.isdir(folder):
        raise CatalogError(f"cannot write {visible(path)}: there is no directory {visible(folder)}")
    if not os.access(folder, os.W_OK):
        raise CatalogError(f"cannot write {visible(path)}: the directory does not allow it")
    if not os.path.lexists(target):
        return Catalog({})
    if not os.path.isfile(target):
        what = "it is a directory" if os.path.isdir(target) else "it is no regular file"
        raise CatalogError(f"cannot write {visible(path)}: {what}")
    return read(path, may_be_edited=True) if os.path.getsize(target) else Catalog({})


def server_offering(catalog: Catalog, tool: str) -> str:
    """Name the one server that offers `tool`, by its name with the prefix.

    Raises:
        CatalogError: none does, or several do.

    """
    servers = catalog.servers
    owners = [name for name, entry in servers.items() if tool in entry.offered]
    if not owners:
        offered = {name for entry in servers.values() for name in entry.offered}
        more = (
            _other_kind(tool, servers)
            or nearest.hint(tool, offered)
            or _unasked_hint(servers.values())
        )
        raise CatalogError(f"the catalog does not have this tool{more}")
    if len(owners) > 1:
        raise CatalogError(f"several servers have this tool: {', '.join(map(visible, owners))}")
    return owners[0]


def entry_offering(catalog: Catalog, tool: str) -> Entry:
    """Find that server's entry; raises as `server_offering`."""
    return catalog.servers[server_offering(catalog, tool)]


def entry_of(catalog: Catalog, name: str) -> Entry:
    """Find a server by its name.

    Raises:
        CatalogError: there is none of this name.

    """
    if name not in catalog.servers:
        near = nearest.hint(name, catalog.servers)
        raise CatalogError(f"the catalog has no server {visible(name)}{near}")
    return catalog.servers[name]


def _other_kind(name: str, servers: dict[str, Entry]) -> str:
    """Say what has the name, if that is no tool."""
    for server, entry in servers.items():
        for kind, word in WORDS.items():
            if name in entry.named(kind):
                return f"; it is a {word} of {visible(server)}"
    return ""


def _unasked_hint(entries: Iterable[Entry]) -> str:
    """Say why a tool that somebody has seen elsewhere may not have been listed for the pin."""
    if all(entry.modes for entry in entries):
        return ""
    return "; some are listed only to clients that can be asked: pin with --elicitation"


def loads(data: bytes, path: str, *, may_be_edited: bool = False) -> Catalog:
    """Read a catalog from its bytes; `path` is for the sentences, the rest is as for `read`.

    Raises:
        CatalogError: as `read`.

    """
    try:
        root = jsontext.load(jsontext.decode(jsontext.latin1(data)))
    except JsonError as problem:
        raise _broken(path, str(problem)) from None
    return decode(root, path, may_be_edited=may_be_edited)


def decode(root: Json, path: str, *, may_be_edited: bool = False) -> Catalog:
    """Take what the bytes of a catalog mean as one, as `loads` does.

    Raises:
        CatalogError: as `read`.

    """
    if not isinstance(root, dict) or "thrall" not in root:
        raise _broken(path, 'it has no member "thrall"')
    if root["thrall"] != FORMAT or isinstance(root["thrall"], bool):
        raise CatalogError(
            f"{visible(path)} is of another format than {FORMAT}: it needs another thrall"
        )
    servers = root.get("servers")
    if not set(root) <= {"thrall", "policy", "servers"} or not isinstance(servers, dict):
        raise _broken(path, 'it should have "thrall", "servers", perhaps "policy", and no more')
    try:
        allow = codec.decode_policy(root.get("policy", {}))
    except JsonError as problem:
        raise _broken(path, str(problem)) from None
    entries = {}
    for name, value in servers.items():
        try:
            entries[name] = codec.decode_entry(value)
            if not may_be_edited:
                codec.refuse_edited(entries[name])
        except JsonError as problem:
            raise _broken(path, f"its server {name!a}: {problem}") from None
    return Catalog(entries, allow)


def dumps(catalog: Catalog) -> str:
    """Write a catalog as text, always the same for the same content."""
    root: dict[str, Json] = {"thrall": FORMAT}
    if catalog.allow:
        root["policy"] = {"allow": list[Json](catalog.allow)}
    root["servers"] = {
        name: codec.encode_entry(catalog.servers[name]) for name in sorted(catalog.servers)
    }
    return canonical.indented(root)


@contextlib.contextmanager
def lock(path: str, meanwhile: Callable[[], None]) -> Iterator[None]:
    """Keep other pins of the same file waiting: what they write meanwhile would be lost.

    The lock is on the directory, so that no file of its own stays behind. While another has it,
    `meanwhile` is called again and again; it may raise, and it takes its time. What a writer left
    behind that was killed is removed.

    Raises:
        CatalogError: the directory cannot be opened.

    """
    if path == STDOUT:
        yield
        return
    folder, _ = _place(path)
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError as problem:
        raise CatalogError(f"cannot lock {visible(folder)}: {problem.strerror}") from None
    try:
        while not _is_locked(descriptor):
            meanwhile()
        for stale in _temporaries(path):
            with contextlib.suppress(OSError):
                os.unlink(stale)
        yield
    finally:
        os.close(descriptor)


def _is_locked(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def write(path: str, text: str) -> None:
    """Put `text` in the place of the file in one step: a reader sees the old one or the new one.

    Raises:
        CatalogError: it cannot be written; the old file is as it was.

    """
    import secrets  # with all of random: who only reads does without

    _, target = _place(path)
    temporary = f"{_hidden(target)}{secrets.token_hex(_RANDOM)}"
    try:
        before = os.stat(target) if os.path.exists(target) else None
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
        with open(descriptor, "w", encoding="ascii") as file:
            if before:
                with contextlib.suppress(PermissionError):  # only root may give files away
                    os.fchown(descriptor, before.st_uid, before.st_gid)
                os.fchmod(descriptor, stat.S_IMODE(before.st_mode))
            file.write(text)
            file.flush()
            os.fsync(descriptor)
        os.replace(temporary, target)
    except OSError as problem:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise CatalogError(f"cannot write {visible(path)}: {problem.strerror}") from None


def _hidden(target: str) -> str:
    """How the names of temporary files begin."""
    folder, name = os.path.split(target)
    return os.path.join(folder, f".{name}.")


def _temporaries(path: str) -> list[str]:
    """The temporary files of writers of `path`, who all need the lock."""
    folder, target = _place(path)
    ours = re.compile(re.escape(_hidden(target)) + f"[0-9a-f]{{{2 * _RANDOM}}}")
    names = (os.path.join(folder, name) for name in os.listdir(folder))
    return [name for name in names if ours.fullmatch(name)]


def _place(path: str) -> tuple[str, str]:
    """The directory and the file itself, behind symbolic links."""
    try:
        target = os.path.realpath(path)
    except OSError as problem:  # the working directory is gone
        raise CatalogError(f"cannot write {visible(path)}: {problem.strerror}") from None
    return os.path.dirname(target), target


def _broken(path: str, why: str) -> CatalogError:
    return CatalogError(f"{visible(path)} is no usable catalog: {visible(why)[:_SHOWN]}")
