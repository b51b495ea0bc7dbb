"""Floor 3: network neighbours, retrofitting, and the callback that re-trains relations."""

from mohone.infusion.settings import Retrofit

__all__ = ["Retrofit"]
