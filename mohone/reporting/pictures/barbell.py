"""The paper's figure 3: the heat of each node of a bar-bell graph, and the roles that it tells apart."""

from __future__ import annotations

from typing import Any

import torch

from mohone.graph.barbell import DOOR, INSIDE, barbell
from mohone.graph.heat_kernel import HeatKernel
from mohone.reporting.plotting import new_figure


def barbell_figure(scale: float = 5.0, bell: int = 10, path: int = 10) -> Any:
    """Rows of the heat kernel, each sorted, beside the graph, its nodes coloured by role.

    Args:
        scale: of the heat kernel.
        bell: nodes of each clique.
        path: nodes of the path between them.
    """
    network, roles = barbell(bell, path)
    kernel = HeatKernel(network, scale).rows(torch.arange(network.n_nodes))
    figure, (heat, drawing) = new_figure(9, 3.8, 2)
    image = heat.imshow(kernel.sort(dim=1, descending=True).values.numpy(), aspect="auto", cmap="viridis")
    heat.set(xlabel="heat values of a node, greatest first", ylabel="node", title=f"Heat at s = {scale:g}")
    figure.colorbar(image, ax=heat)
    place = _places(bell, path)
    for a, b in zip(network.source.tolist(), network.target.tolist(), strict=True):
        drawing.plot(*zip(place[a], place[b], strict=True), color="lightgray", linewidth=0.6, zorder=1)
    kinds = {"in a bell": roles == INSIDE, "its door": roles == DOOR, "on the path": roles >= 0}
    for label, mask in kinds.items():
        nodes = mask.nonzero().flatten().tolist()
        drawing.scatter(*zip(*(place[node] for node in nodes), strict=True), label=label, zorder=2)
    drawing.set_axis_off()
    drawing.set_aspect("equal")
    drawing.legend(loc="upper center", bbox_to_anchor=(0.5, 1.15), ncols=3, fontsize=8)
    return figure


def _places(bell: int, path: int) -> list[tuple[float, float]]:
    """Where to draw each node: the bells as circles, whose doors face each other, the path between them."""
    turn = torch.arange(bell) * (2 * torch.pi / bell)
    x, y = turn.cos() * 3, turn.sin() * 3
    reach = 3.0 + (path + 1) / 2
    left = list(zip((x - reach).tolist(), y.tolist(), strict=True))
    right = list(zip((reach - x).tolist(), y.tolist(), strict=True))
    middle = [(i - (path - 1) / 2, 0.0) for i in range(path)]
    return [*left[1:], left[0], *middle, *right]
