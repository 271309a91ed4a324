"""Run a command with its output in a file; print its status, seconds and peak memory in bytes.

A process of its own, because the peak of a child begins with that of the process it is forked
from, and a test's is large.  The peak is that of the command or of a process it waited for.
"""

import json
import os
import sys
import time


def main():
    output, *command = sys.argv[1:]
    started = time.monotonic()
    pid = os.posix_spawnp(
        command[0],
        command,
        os.environ,
        file_actions=[
            (os.POSIX_SPAWN_OPEN, 1, output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        ],
    )
    _, status, usage = os.wait4(pid, 0)
    unit = 1 if sys.platform == "darwin" else 1024
    figures = {
        "status": os.waitstatus_to_exitcode(status),
        "seconds": time.monotonic() - started,
        "peak": usage.ru_maxrss * unit,
    }
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
