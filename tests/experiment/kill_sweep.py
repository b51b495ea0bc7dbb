"""Kill a sweep at random moments, then let it end: `kill_sweep.py N_KILLS SECONDS ARGUMENT...`.

Each try is a process forked from this one, in which all is imported, so that the kills fall into work.
Prints how many tries were killed, and at the end the seconds of the last one, which nobody disturbs and whose
exit code is the command's. To be run with one thread: a fork keeps no other.
"""

import os
import random
import signal
import sys
import time

import mohone.experiment.job  # noqa: F401
from mohone.run import main


def start(arguments: list[str]) -> int:
    """Fork a process, a group of its own, that runs the command."""
    child = os.fork()
    if child == 0:
        os.setsid()
        sys.argv = ["mohone.run", *arguments]
        os._exit(main())
    return child


def killed(arguments: list[str], after: float) -> bool:
    """Run the command, killed with all its children after so many seconds; False: it had ended before."""
    child, end = start(arguments), time.monotonic() + after
    while time.monotonic() < end:
        if os.waitpid(child, os.WNOHANG)[0]:
            return False
        time.sleep(0.005)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return True


if __name__ == "__main__":
    random.seed(0)
    n_kills, seconds, rest = int(sys.argv[1]), float(sys.argv[2]), sys.argv[3:]
    print("killed:", sum(killed(rest, random.uniform(0, seconds)) for _ in range(n_kills)), flush=True)
    began = time.monotonic()
    status = os.waitpid(start(rest), 0)[1]
    print("seconds:", time.monotonic() - began)
    sys.exit(os.waitstatus_to_exitcode(status))
