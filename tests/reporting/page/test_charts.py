"""Axes have room for all values and round labels; long lines are thinned."""

from hypothesis import given
from hypothesis import strategies as st

from mohone.reporting.page.charts import Axis, Chart

values = st.lists(st.floats(-1e6, 1e6, allow_subnormal=False), min_size=1, max_size=9)


@given(values)
def test_all_values_and_ticks_lie_on_the_axis(found: list[float]) -> None:
    axis = Axis.around(found, "x", zero=True)
    assert all(0 <= axis.place(value) <= 100 for value in [*found, 0.0])
    assert all(-1e-6 <= tick.place <= 100 + 1e-6 for tick in axis.ticks)


@given(st.lists(st.floats(1e-3, 1e6), min_size=1, max_size=9))
def test_a_logarithmic_axis_keeps_ratios(found: list[float]) -> None:
    axis = Axis.around(found, "x", log=True)
    assert all(0 <= axis.place(value) <= 100 for value in found)
    assert axis.ticks
    middle = (axis.low * axis.high) ** 0.5
    assert abs(axis.place(middle) - 50) < 0.1


def test_ticks_are_few_and_round() -> None:
    assert [tick.text for tick in Axis(27.2, 28.9, "points").ticks] == ["27.5", "28", "28.5"]
    assert [tick.text for tick in Axis(-0.5, 2.0, "points").ticks] == [
        "\N{MINUS SIGN}0.5",
        "0",
        "0.5",
        "1",
        "1.5",
        "2",
    ]


def test_a_long_line_is_thinned_and_keeps_its_ends() -> None:
    chart = Chart("", Axis(0, 1000, ""), Axis(0, 1000, ""))
    chart.line([(float(i), float(i)) for i in range(1001)], color=9)
    points = chart.lines[0].points.split()
    assert len(points) <= 151
    assert (points[0], points[-1]) == ("0,100", "100,0")
    assert chart.lines[0].color == 1
