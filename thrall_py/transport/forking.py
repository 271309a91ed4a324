"""A copy of this process, which does one thing and ends."""

import os
import sys
import traceback
from collections.abc import Callable

from thrall_py.errors import Interrupted
from thrall_py.transport.interrupts import Interrupts, blocked, die_by_signal, forget, unblock


def fork(copy: Callable[[], None]) -> int:
    """Start a copy of this process, which does nothing but `copy`, and that never returns.

    Returns:
        Its process id.

    Raises:
        OSError: there are too many processes.

    """
    sys.stdout.flush()
    sys.stderr.flush()
    with blocked():  # until the copy has taken note of signals for itself
        pid = os.fork()  # noqa: TID251 - no program is started, only a copy of this one
        if pid == 0:
            copy()
    return pid


def live(task: Callable[[Interrupts], None]) -> None:
    """Be the process of one task, to its end."""
    try:
        forget()
        with Interrupts() as interrupts:
            unblock()
            task(interrupts)
    except Interrupted as interrupted:
        die_by_signal(interrupted.signum)
    except BaseException:  # noqa: BLE001 - nothing may escape into the copy of the parent
        traceback.print_exc()
    finally:
        os._exit(0)
