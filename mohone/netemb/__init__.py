"""Floor 2: network embeddings; a neighbourhood each, one learner."""

from mohone.netemb.shnb import SharedNeighborhood
from mohone.netemb.struct import StructuralRole

__all__ = ["SharedNeighborhood", "StructuralRole"]
