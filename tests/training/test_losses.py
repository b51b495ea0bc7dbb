import pytest
import torch
from torch import Tensor

from mohone.training.losses import (
    answer_logistic,
    answer_softmax,
    logistic,
    margin_ranking,
    power_penalty,
    self_adversarial,
)

ROWS, ANSWERS = torch.tensor([0, 0, 2, 2, 2, 3]), torch.tensor([1, 4, 0, 1, 2, 4])


def loop_answer_softmax(
    scores: Tensor, weights: Tensor, smoothing: float, factor: float, left_out: Tensor
) -> Tensor:
    total = scores.new_zeros(())
    for row, answer, weight in zip(ROWS.tolist(), ANSWERS.tolist(), weights, strict=True):
        counted = factor * scores[row][~left_out[row]]
        one = torch.logsumexp(counted, 0) - (1 - smoothing) * factor * scores[row, answer]
        total = total + weight * (one - smoothing * counted.mean())
    return total


@pytest.mark.parametrize("factor", [1.0, 2.5])
@pytest.mark.parametrize("smoothing", [0.0, 0.3])
@pytest.mark.parametrize("leave_out", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_answer_softmax_equals_the_loop_with_its_gradient(
    smoothing: float, factor: float, leave_out: bool, weighted: bool
) -> None:
    torch.manual_seed(0)
    left_out = (torch.rand(4, 5) < 0.4) & leave_out
    left_out[ROWS, ANSWERS] = False
    weights = torch.rand(6, dtype=torch.float64) if weighted else torch.ones(6, dtype=torch.float64)
    row_weights = torch.zeros(4, dtype=torch.float64).index_add_(0, ROWS, weights)
    ours = torch.randn(4, 5, dtype=torch.float64, requires_grad=True)
    loops = ours.detach().clone().requires_grad_()
    mine = answer_softmax(
        ours,
        ROWS,
        ANSWERS,
        row_weights,
        weights if weighted else None,
        smoothing,
        factor,
        left_out if leave_out else None,
    )
    other = loop_answer_softmax(loops, weights, smoothing, factor, left_out)
    torch.testing.assert_close(mine, other)
    (mine * 3).backward()
    (other * 3).backward()
    torch.testing.assert_close(ours.grad, loops.grad)


def test_what_is_left_out_may_score_far_above_the_rest() -> None:
    scores = torch.tensor([[500.0, 1.0, 0.0]])
    left_out = torch.tensor([[True, False, False]])
    first, one = torch.tensor([0]), torch.tensor([1])
    loss = answer_softmax(scores, first, one, torch.ones(1), left_out=left_out)
    torch.testing.assert_close(loss, torch.tensor(1.0).exp().add(1).log() - 1)


def test_answer_softmax_of_many_blocks_equals_one() -> None:
    torch.manual_seed(0)
    scores = torch.randn(700, 900, dtype=torch.float64, requires_grad=True)  # More than one block.
    rows = torch.arange(700)
    answers = torch.randint(900, (700,))
    answer_softmax(scores, rows, answers, torch.ones(700)).backward()
    plain = scores.detach().clone().requires_grad_()
    torch.nn.functional.cross_entropy(plain, answers, reduction="sum").backward()
    torch.testing.assert_close(scores.grad, plain.grad)


def test_answer_softmax_of_large_scores_is_finite() -> None:
    scores = torch.tensor([[1e4, -1e4, 0.0]], requires_grad=True)
    answer_softmax(scores, torch.tensor([0]), torch.tensor([1]), torch.ones(1)).backward()
    assert scores.grad is not None
    torch.testing.assert_close(scores.grad, torch.tensor([[1.0, -1.0, 0.0]]))


@pytest.mark.parametrize("smoothing", [0.0, 0.3])
def test_answer_logistic_equals_the_loop_with_its_gradient(smoothing: float) -> None:
    torch.manual_seed(0)
    ours = torch.randn(4, 5, dtype=torch.float64, requires_grad=True)
    loops = ours.detach().clone().requires_grad_()
    answers = set(zip(ROWS.tolist(), ANSWERS.tolist(), strict=True))
    other = loops.new_zeros(())
    for i in range(4):
        for j in range(5):
            target = (1 - smoothing) * ((i, j) in answers) + smoothing / 5
            chance = torch.sigmoid(loops[i, j])
            other = other - (target * chance.log() + (1 - target) * (1 - chance).log()) / 5
    mine = answer_logistic(ours, ROWS, ANSWERS, smoothing, scale=0.5)
    torch.testing.assert_close(mine, 0.5 * other)
    (mine * 3).backward()
    (other * 1.5).backward()
    torch.testing.assert_close(ours.grad, loops.grad)


def loop_pairwise(name: str, scores: Tensor, left_out: Tensor) -> Tensor:
    """The three pairwise losses, a query at a time, margin 0.7, inverse temperature 2."""
    total = scores.new_zeros(())
    for i in range(len(scores)):
        gold = scores[i, i]
        negatives = [scores[i, j] for j in range(scores.shape[1]) if j != i and not left_out[i, j]]
        if name == "margin":
            parts = [torch.clamp(0.7 - gold + s, min=0) for s in negatives]
        elif name == "logistic":
            total = total + torch.log(1 + torch.exp(-gold))
            parts = [torch.log(1 + torch.exp(s)) for s in negatives]
        else:
            total = total - torch.log(torch.sigmoid(0.7 + gold))
            weights = [float(torch.exp(2 * s)) for s in negatives]
            parts = [
                -w / sum(weights) * len(negatives) * torch.log(torch.sigmoid(-0.7 - s))
                for w, s in zip(weights, negatives, strict=True)
            ]
        if parts:
            total = total + sum(parts) / len(parts)
    return total


@pytest.mark.parametrize("name", ["margin", "logistic", "self_adversarial"])
def test_pairwise_losses_equal_the_loop_with_their_gradient(name: str) -> None:
    torch.manual_seed(0)
    left_out = torch.rand(3, 6) < 0.4
    left_out[1] = True  # A query without a negative.
    left_out.fill_diagonal_(False)
    ours = torch.randn(3, 6, dtype=torch.float64, requires_grad=True)
    loops = ours.detach().clone().requires_grad_()
    if name == "margin":
        mine = margin_ranking(ours, torch.arange(3), left_out, 0.7)
    elif name == "logistic":
        mine = logistic(ours, torch.arange(3), left_out)
    else:
        mine = self_adversarial(ours, torch.arange(3), left_out, 0.7, 2.0)
    other = loop_pairwise(name, loops, left_out)
    torch.testing.assert_close(mine, other)
    mine.backward()
    other.backward()
    torch.testing.assert_close(ours.grad, loops.grad)


@pytest.mark.parametrize("order", [2, 3])
def test_power_penalty_by_a_loop(order: int) -> None:
    vectors = torch.tensor([[3.0, -4.0], [1.0, 2.0]])
    weight = torch.tensor([2.0, 0.5])
    wanted = sum(
        w * abs(x) ** order for w, v in zip(weight.tolist(), vectors.tolist(), strict=True) for x in v
    )
    assert float(power_penalty(vectors.square(), order, weight)) == pytest.approx(wanted)
