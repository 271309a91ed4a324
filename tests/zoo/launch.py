"""What a forked process does before it becomes the command under test.

--terminal      stdin becomes the controlling terminal
--close N       the descriptor N is closed
--ignore NAME   the signal is ignored
--vanish        the working directory does not exist any more

Signals that the test's own process may ignore or handle are set back.
"""

import fcntl
import os
import signal
import termios


def prepare(words):
    for name in ("SIGINT", "SIGHUP", "SIGTERM", "SIGQUIT", "SIGPIPE", "SIGCHLD"):
        signal.signal(signal.Signals[name], signal.SIG_DFL)
    words = list(words)
    while words:
        option = words.pop(0)
        if option == "--terminal":
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)
        elif option == "--vanish":
            os.mkdir("vanished")
            os.chdir("vanished")
            os.rmdir("../vanished")
        elif option == "--ignore":
            signal.signal(signal.Signals[words.pop(0)], signal.SIG_IGN)
        elif option == "--close":
            os.close(int(words.pop(0)))
