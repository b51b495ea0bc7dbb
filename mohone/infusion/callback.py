"""The infusion as a Lightning callback: retrofit entities, freeze them, let the fit re-train relations."""

from __future__ import annotations

import pytorch_lightning as pl
from pytorch_lightning.callbacks import BaseFinetuning
from torch import Tensor
from torch.optim import Optimizer

from mohone.infusion.retrofit import Pull, retrofit_and_tell
from mohone.kge import KGEModel
from mohone.training.module import KGEModule


class RetrofitCallback(BaseFinetuning):
    """Before the optimiser is built, retrofits the entity tables of the module's model and freezes them.

    Use it on a fresh Trainer with a module that holds the best baseline: the fit then re-trains what is left,
    the relations, with the model's own loss and regularisers (the paper, section 3.4).

    Args:
        neighbors: `(n_entities, k)`, see `nearest_neighbors`.
        pull: how strongly they pull.
        thaw_epoch: the epoch from which entities are trained again; None: never.

    Attributes:
        objective: of all entity tables together, before retrofitting and after each iteration; empty before.
    """

    def __init__(self, neighbors: Tensor, pull: Pull, thaw_epoch: int | None = None) -> None:
        super().__init__()
        self.neighbors, self.pull, self.thaw_epoch = neighbors, pull, thaw_epoch
        self.objective: list[float] = []

    def freeze_before_training(self, pl_module: pl.LightningModule) -> None:
        """Called by Lightning before the optimiser exists."""
        assert isinstance(pl_module, KGEModule)
        self.retrofit_and_freeze(pl_module.model)

    def retrofit_and_freeze(self, model: KGEModel) -> None:
        """Move the entity tables of a model, and let nothing else move them."""
        curves = []
        for table in model.entity_parameters().values():
            moved = retrofit_and_tell(table.data, self.neighbors, self.pull)
            table.data.copy_(moved.vectors)
            table.requires_grad_(False)
            curves.append(moved.objective)
        self.objective = [sum(step) for step in zip(*curves, strict=True)]

    def finetune_function(
        self,
        pl_module: pl.LightningModule,
        epoch: int,
        optimizer: Optimizer,  # noqa: ARG002
    ) -> None:
        """Thaw the entities when their epoch has come (the optimiser knows them from the start)."""
        assert isinstance(pl_module, KGEModule)
        if self.thaw_epoch is not None and epoch == self.thaw_epoch:
            for table in pl_module.model.entity_parameters().values():
                table.requires_grad_(True)
