"""A trained model and a network in, an infused model out."""

from mohone.infusion.settings import Retrofit

__all__ = ["Retrofit"]
