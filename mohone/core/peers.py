"""Other processes of a training that die: said in one sentence, whoever started them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from mohone.core.errors import TrainingError, first_line


@contextmanager
def peers_live() -> Iterator[None]:
    """In the block processes talk to one another; what says that one has gone becomes a sentence.

    Raises:
        TrainingError: a process has died, or what one said in a sentence.
    """
    # Torch takes seconds, which help and typos should not.
    from torch.multiprocessing.spawn import ProcessExitedException, ProcessRaisedException

    try:
        yield
    except ProcessRaisedException as error:
        kind, _, sentence = str(error).strip().split("\n")[-1].partition(": ")
        if kind.endswith(f".{TrainingError.__name__}"):
            raise TrainingError(sentence) from None
        raise
    except ProcessExitedException as error:
        raise TrainingError(_died(str(error))) from None
    except RuntimeError as error:
        if not _is_of_backend(error):
            raise
        raise TrainingError(_died(re.sub(r"^\[[^]]*\] ", "", first_line(error)).split(". ")[0])) from None


def _died(why: str) -> str:
    return (
        f"All processes of a training must live to its end, but one died ({why}): the same command "
        "goes on from the last state that was kept."
    )


def _is_of_backend(error: RuntimeError) -> bool:
    """Did gloo or nccl fail? Gloo's errors have no class of their own, but say its name."""
    import torch.distributed as dist

    return dist.is_initialized() and (isinstance(error, dist.DistError) or "gloo" in str(error))
