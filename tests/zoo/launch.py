"""Become another program, started as a test wants it.

    python -I -S launch.py [--terminal] [--close N]... PROGRAM [ARG...]

Signals that the test's own process may ignore are set back, stdin becomes the controlling
terminal, descriptors are closed.
"""

import fcntl
import os
import signal
import sys
import termios


def main(arguments):
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM, signal.SIGQUIT, signal.SIGPIPE):
        signal.signal(number, signal.SIG_DFL)
    while arguments[0].startswith("--"):
        if arguments.pop(0) == "--terminal":
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)
        else:
            os.close(int(arguments.pop(0)))
    os.execvp(arguments[0], arguments)


main(sys.argv[1:])
