"""The program: `thrall`, and `python -m thrall_py`."""

import gc
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

    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
