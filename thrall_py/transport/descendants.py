"""Processes that a server started and that left its group: found and ended, on Linux.

As a subreaper (prctl(2)) thrall becomes the parent of every descendant that loses its own, so
"no child left" proves that nothing is alive. Other systems have no such thing: there only the
process group is ended, and what left it stays.
"""

import contextlib
import os
import signal
import sys
import time

from thrall_py.errors import Interrupted

SUPPORTED = sys.platform == "linux"

_PR_SET_CHILD_SUBREAPER = 36  # <linux/prctl.h>
_PR_SET_PDEATHSIG = 1  # likewise
_PATIENCE = 5.0  # seconds for killed processes to be gone; one stuck in the kernel may stay
_PAUSE = 0.001  # seconds between two rounds, for the killed to die


def become_subreaper() -> frozenset[int]:
    """Become the parent of orphans; the children this process had before, which are not ours.

    (A shell that execs thrall may leave it children.)
    """
    if not SUPPORTED:
        return frozenset()
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)
    return frozenset(_children_by_parent().get(os.getpid(), ())) if _has_children() else frozenset()


def follow(parent: int) -> None:
    """Have SIGTERM sent to this process when its parent is gone, on Linux.

    Raises:
        Interrupted: it is gone.

    """
    if not SUPPORTED:
        return
    _prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:
        raise Interrupted(signal.SIGTERM)


def alive(preexisting: frozenset[int]) -> list[int]:
    """Find the processes below this one that are alive, but for `preexisting` and theirs."""
    if not SUPPORTED:
        return []
    below = _below(os.getpid(), _children_by_parent(), preexisting)
    return [pid for pid in below if not _is_dead(pid)]


def kill_all(preexisting: frozenset[int]) -> None:
    """Kill and reap whatever is left below this process, but for `preexisting` and theirs."""
    if not SUPPORTED:
        return
    deadline = time.monotonic() + _PATIENCE
    while _has_children() and time.monotonic() < deadline:
        left = _below(os.getpid(), _children_by_parent(), preexisting)
        if not left:
            return
        for pid in left:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(_PAUSE)
        for pid in left:
            # Not our child yet: its parent is dying, and in a later round it is.
            with contextlib.suppress(ChildProcessError):
                os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG)


def _prctl(option: int, value: int) -> None:
    # What ctypes stands on: its own types, which a call of one function does not need, take as
    # long to be made as all the rest of this module's work.
    import _ctypes

    ourselves = _ctypes.dlopen(None, 0)  # type: ignore[arg-type]  # the stubs know no dlopen(NULL)
    function = _ctypes.dlsym(ourselves, "prctl")
    _ctypes.call_cdeclfunction(function, (option, value, 0, 0, 0))


def _has_children() -> bool:
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True


def _children_by_parent() -> dict[int, list[int]]:
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            with contextlib.suppress(OSError):  # gone meanwhile
                children.setdefault(_parent(name), []).append(int(name))
    return children


def _parent(pid: str) -> int:
    return int(_stat(pid)[1])


def _is_dead(pid: int) -> bool:
    try:
        return _stat(str(pid))[0] in (b"Z", b"X")
    except OSError:  # and reaped
        return True


def _stat(pid: str) -> list[bytes]:
    """What the kernel tells of a process: its state, its parent, and more."""
    with open(f"/proc/{pid}/stat", "rb") as stat:
        # The command's name may hold anything; the last parenthesis ends it.
        return stat.read().rpartition(b")")[2].split()


def _below(root: int, children: dict[int, list[int]], preexisting: frozenset[int]) -> list[int]:
    found, waiting = [], [root]
    while waiting:
        for pid in children.get(waiting.pop(), ()):
            if pid not in preexisting:
                found.append(pid)
                waiting.append(pid)
    return found
