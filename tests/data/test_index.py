import torch
from hypothesis import given
from hypothesis import strategies as st

from mohone.data.index import GroupIndex

pair_lists = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 4)), max_size=40)


@given(pair_lists, st.lists(st.integers(0, 8), max_size=10))
def test_lookup_and_span_equal_a_dictionary(pairs: list[tuple[int, int]], keys: list[int]) -> None:
    wanted: dict[int, set[int]] = {}
    for key, member in pairs:
        wanted.setdefault(key, set()).add(member)
    table = torch.tensor(pairs, dtype=torch.int64).reshape(-1, 2)
    index = GroupIndex.from_pairs(table[:, 0], table[:, 1], 5)

    rows, members = index.lookup(torch.tensor(keys, dtype=torch.int64))

    found = list(zip(rows.tolist(), members.tolist(), strict=True))
    assert found == [(i, m) for i, key in enumerate(keys) for m in sorted(wanted.get(key, set()))]
    for key in range(9):
        assert index.members[index.span(key)].tolist() == sorted(wanted.get(key, set()))
