import pytest
import torch
from torch import Tensor

from mohone.kge.losses import answer_softmax, power_penalty


def loop_answer_softmax(
    scores: Tensor, rows: Tensor, answers: Tensor, smoothing: float, factor: float, left_out: Tensor
) -> Tensor:
    total = scores.new_zeros(())
    for row, answer in zip(rows.tolist(), answers.tolist(), strict=True):
        counted = factor * scores[row][~left_out[row]]
        normaliser = torch.logsumexp(counted, 0)
        total = total + normaliser - (1 - smoothing) * factor * scores[row, answer]
        total = total - smoothing * counted.mean()
    return total


@pytest.mark.parametrize("factor", [1.0, 2.5])
@pytest.mark.parametrize("smoothing", [0.0, 0.3])
@pytest.mark.parametrize("leave_out", [False, True])
def test_answer_softmax_equals_the_loop_with_its_gradient(
    smoothing: float, factor: float, leave_out: bool
) -> None:
    torch.manual_seed(0)
    rows, answers = torch.tensor([0, 0, 2, 2, 2, 3]), torch.tensor([1, 4, 0, 1, 2, 4])
    left_out = (torch.rand(4, 5) < 0.4) & leave_out
    left_out[rows, answers] = False
    ours = torch.randn(4, 5, dtype=torch.float64, requires_grad=True)
    loops = ours.detach().clone().requires_grad_()
    mine = answer_softmax(ours, rows, answers, smoothing, factor, left_out if leave_out else None)
    other = loop_answer_softmax(loops, rows, answers, smoothing, factor, left_out)
    torch.testing.assert_close(mine, other)
    (mine * 3).backward()
    (other * 3).backward()
    torch.testing.assert_close(ours.grad, loops.grad)


def test_answer_softmax_of_large_scores_is_finite() -> None:
    scores = torch.tensor([[1e4, -1e4, 0.0]], requires_grad=True)
    answer_softmax(scores, torch.tensor([0]), torch.tensor([1])).backward()
    assert scores.grad is not None
    torch.testing.assert_close(scores.grad, torch.tensor([[1.0, -1.0, 0.0]]))


@pytest.mark.parametrize("order", [2, 3])
def test_power_penalty_by_a_loop(order: int) -> None:
    vectors = torch.tensor([[3.0, -4.0], [1.0, 2.0]])
    weight = torch.tensor([2.0, 0.5])
    wanted = sum(
        w * abs(x) ** order for w, v in zip(weight.tolist(), vectors.tolist(), strict=True) for x in v
    )
    assert float(power_penalty(vectors.square(), order, weight)) == pytest.approx(wanted)
