"""Network embeddings: what N(u) is, a file each, and how F is learned, the same for all."""

from mohone.netemb.learn import Learner, NetworkEmbedding
from mohone.netemb.node2vec import DeepWalk, Node2Vec
from mohone.netemb.shnb import SharedNeighborhood
from mohone.netemb.struct import StructuralRole

__all__ = ["DeepWalk", "Learner", "NetworkEmbedding", "Node2Vec", "SharedNeighborhood", "StructuralRole"]
