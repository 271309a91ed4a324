"""Run a command once, with its output in a pipe, and print what it took as JSON.

    python -I -S once.py STDIN WORD...

A process of its own, and a small one, because the peak memory of a child begins with that of the
process that it is started from.  Times are seconds since just before the start: `answered` to
the last byte on stdout, `ended` to the end of the process.  `processor` is in seconds, of the
process and of all that it started; `peak` is in bytes, of the largest of them.
"""
# ruff: noqa: INP001, T201 - a script

import ctypes
import json
import os
import signal
import sys
import time

PR_SET_CHILD_SUBREAPER = 36
BEGINNING = 4096  # bytes of the output that are kept


def main() -> None:
    """Run, read, wait, print."""
    stdin, *words = sys.argv[1:]
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)
    output, theirs = os.pipe()
    actions = [
        (os.POSIX_SPAWN_OPEN, 0, stdin, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_DUP2, theirs, 1),
        (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
    ]
    started = time.perf_counter()
    pid = os.posix_spawnp(words[0], words, os.environ, file_actions=actions)
    os.close(theirs)
    answered, size, beginning = started, 0, b""
    while read := os.read(output, 1 << 16):
        answered = time.perf_counter()
        size += len(read)
        beginning += read[: BEGINNING - len(beginning)]
    _, status, used = os.wait4(pid, 0)
    ended = time.perf_counter()
    processor, peak = used.ru_utime + used.ru_stime, used.ru_maxrss
    for usage in left_behind():
        processor += usage.ru_utime + usage.ru_stime
        peak = max(peak, usage.ru_maxrss)
    print(
        json.dumps(
            {
                "answered": answered - started,
                "ended": ended - started,
                "processor": processor,
                "peak": peak * 1024,
                "status": os.waitstatus_to_exitcode(status),
                "size": size,
                "beginning": beginning.decode(errors="replace"),
            }
        )
    )


def left_behind() -> list:
    """End what the command has left alive, which the next run would feel; return its usage."""
    usages = []
    while True:
        with open("/proc/thread-self/children", encoding="ascii") as file:
            children = [int(word) for word in file.read().split()]
        if not children:
            return usages
        for child in children:
            os.kill(child, signal.SIGKILL)
            usages.append(os.wait4(child, 0)[2])


if __name__ == "__main__":
    main()
