"""Floor 2: network embeddings; a neighbourhood each, one learner."""

from mohone.netemb.node2vec import DeepWalk, Node2Vec
from mohone.netemb.shnb import SharedNeighborhood
from mohone.netemb.struct import StructuralRole

__all__ = ["DeepWalk", "Node2Vec", "SharedNeighborhood", "StructuralRole"]
