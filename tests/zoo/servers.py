"""Fake MCP servers on stdin and stdout, each well behaved except for one thing.

    python -I -S servers.py CASE [anything]   be that server
    python -I -S servers.py --list            name, theme and behaviour of each

What the environment sets:

    ZOO_CASE    play this case, whatever the command line says
    ZOO_LOG     append one JSON line per event here; a FIFO will do, too
    ZOO_STATE   a file that counts across runs, for the servers that change
    ZOO_TTL     seconds until SIGALRM ends each process of the zoo (120)
    ZOO_SIZE, ZOO_DELAY, ZOO_REF, ZOO_SECRET    what single cases do with them stands in `animals/`
"""

import os
import signal
import sys


def main(arguments):
    # `-I` leaves the folder of the script out of the path.
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    from animals import load, osutil

    if arguments == ["--list"]:
        for name, animal in load().items():
            theme = animal.__module__.rpartition(".")[2]
            print(f"{name:22} {theme:10} {' '.join((animal.__doc__ or '').split())}")
        return 0
    name = os.environ.get("ZOO_CASE") or "".join(arguments[:1])
    cases = load(name)
    if name not in cases:
        print("usage: servers.py CASE | --list", file=sys.stderr)
        return 64
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    osutil.enter("server")
    cases[name]().run()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
