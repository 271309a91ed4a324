"""Become another program, started as a test wants it.

    python -I -S launch.py [OPTION...] PROGRAM [ARG...]

    --terminal      stdin becomes the controlling terminal
    --close N       the descriptor N is closed
    --ignore NAME   the signal is ignored
    --vanish        the working directory does not exist any more

Signals that the test's own process may ignore are set back.
"""

import fcntl
import os
import signal
import sys
import termios


def main(arguments):
    for name in ("SIGINT", "SIGHUP", "SIGTERM", "SIGQUIT", "SIGPIPE", "SIGCHLD"):
        signal.signal(signal.Signals[name], signal.SIG_DFL)
    while arguments[0].startswith("--"):
        option = arguments.pop(0)
        if option == "--terminal":
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)
        elif option == "--vanish":
            os.mkdir("vanished")
            os.chdir("vanished")
            os.rmdir("../vanished")
        elif option == "--ignore":
            signal.signal(signal.Signals[arguments.pop(0)], signal.SIG_IGN)
        elif option == "--close":
            os.close(int(arguments.pop(0)))
    os.execvp(arguments[0], arguments)


main(sys.argv[1:])
