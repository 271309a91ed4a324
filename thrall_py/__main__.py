"""The program: `thrall`, and `python -m thrall_py`."""

import gc
import os
import signal
import sys


def main() -> None:
    """Run the command line and end the process with its status."""
    # Until there is a server to tear down, ^C ends thrall at once, and without a traceback.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    # One short run: there is little to free, and looking for it took most of the time on an answer
    # of millions of parts.
    gc.disable()
    from thrall_py.cli import run

    status = run(sys.argv[1:])
    for stream in filter(None, (sys.stdout, sys.stderr)):
        stream.flush()
    # The interpreter would take everything apart, for 8 ms: the kernel frees it all at once.
    os._exit(status)


if __name__ == "__main__":
    main()
