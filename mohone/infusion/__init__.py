"""A trained model and a network in, an infused model out: the contract, and an infusion a file."""

from mohone.infusion.base import Infusion, NetworkSpace
from mohone.infusion.retrofitting import QueryRetrofit, RetrainOnly, Retrofit

__all__ = ["Infusion", "NetworkSpace", "QueryRetrofit", "RetrainOnly", "Retrofit"]
