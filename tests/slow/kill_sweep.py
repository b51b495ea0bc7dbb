"""Kill a sweep at random moments, then let it end: `kill_sweep.py N_KILLS ARGUMENT...`.

Each try is a process forked from this one, in which all is imported, so that kills fall into work: soon after
a random line of its output, so that they do on quick and slow machines alike. Prints how many tries were
killed; the last one nobody disturbs, and its exit code is the command's. To be run with one thread: a fork
keeps no other.
"""

import itertools
import os
import random
import signal
import sys
import time

import mohone.experiment.job  # noqa: F401
from mohone.run import main

MOST_LINES, MOST_SECONDS = 40, 0.3


def start(arguments: list[str], out: int = 1) -> int:
    """Fork a process, a group of its own, that runs the command and writes to a file descriptor."""
    child = os.fork()
    if child == 0:
        os.setsid()
        os.dup2(out, 1)
        sys.argv = ["mohone.run", *arguments]
        os._exit(main())
    return child


def killed(arguments: list[str]) -> bool:
    """Run the command, killed with all its children after some lines; False: it had ended before."""
    read, write = os.pipe()
    child = start(arguments, write)
    os.close(write)
    n_lines = random.randint(1, MOST_LINES)
    with os.fdopen(read) as out:
        if len(list(itertools.islice(out, n_lines))) < n_lines:
            os.waitpid(child, 0)
            return False
        time.sleep(random.uniform(0, MOST_SECONDS))
        os.killpg(child, signal.SIGKILL)
        os.waitpid(child, 0)
    return True


if __name__ == "__main__":
    random.seed(0)
    n_kills, rest = int(sys.argv[1]), sys.argv[2:]
    print("killed:", sum(killed(rest) for _ in range(n_kills)), flush=True)
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(start(rest), 0)[1]))
