"""What the columns of triples are called, and which of them a row of such words says to be which."""

from __future__ import annotations

import re
from collections.abc import Sequence

from mohone.core.errors import DataError

_CALLED = {
    "head": "head h subject subj s source src from start entity1 node1 u",
    "relation": "relation relationship rel r predicate pred p property edge edgetype reltype type label",
    "tail": "tail t object obj o target tgt dst to end entity2 node2 v",
    "weight": "weight w score",
}
_FIELD_OF = {word: field for field, words in _CALLED.items() for word in words.split()}
_MORE = ("id", "name", "label", "uri", "iri", "entity", "node")  # `head_id`, `subject label`.


def field_of(word: str) -> str | None:
    """What a column of this name holds: head, relation, tail or weight; None: that is not known.

    Example:
        >>> [field_of(word) for word in ("Subject", "node_2", ":TYPE", "tail_id", "music")]
        ['head', 'tail', 'relation', 'tail', None]
    """
    plain = re.sub(r"[\W_]", "", word.lower())
    stems = (plain.removesuffix(more) for more in _MORE)
    longer = (stem for stem in stems if len(stem) > 1)  # `uid` is no `u`.
    return next((_FIELD_OF[stem] for stem in (plain, *longer) if stem in _FIELD_OF), None)


def order_of(words: Sequence[str], fields: Sequence[str]) -> list[int] | None:
    """The place of each field's column by their names; unknown ones leave the fields where they are.

    One name that is unknown is that of the field that no other names.

    Returns:
        the places; None: a field's name stands in another's place, and those of others are unknown; or there
        are more or fewer.

    Example:
        >>> fields = ("head", "relation", "tail")
        >>> order_of(("subject", "object", "predicate"), fields), order_of(("from", "to", "x"), fields)
        ([0, 2, 1], [0, 2, 1])
        >>> order_of(("x", "y", "z"), fields), order_of(("x", "to", "y"), fields)
        ([0, 1, 2], None)
    """
    if len(words) != len(fields):
        return None
    named = [field_of(word) for word in words]
    places = {field: place for place, field in reversed(list(enumerate(named))) if field in fields}
    unknown = [place for place, field in enumerate(named) if field is None]
    if len(places) == len(fields) - 1 and len(unknown) == 1:
        (field,) = set(fields) - set(places)
        places[field] = unknown[0]
    if len(places) == len(fields):
        return [places[field] for field in fields]
    out_of_place = any(named[fields.index(field)] != field for field in places if field)
    return None if out_of_place else list(range(len(fields)))


def need_order(words: Sequence[str], fields: Sequence[str], source: object) -> list[int]:
    """The place of each field's column by their names, as `order_of`.

    Args:
        source: where the names are from, for the message.

    Raises:
        DataError: some stand in another order, and not all are known.
    """
    order = order_of(words, fields)
    if order is None:
        raise DataError(
            f"{source}: the columns must be {', '.join(fields)}, in this order, or all have such names, but "
            f"are called {', '.join(words)}."
        )
    return order


def find_columns(words: Sequence[str], fields: Sequence[str], source: object) -> list[int] | None:
    """The place of each field's column among named ones, of which there may be more.

    Returns:
        the places; None: there are more or fewer columns, and their names do not tell.

    Raises:
        DataError: as `need_order`.

    Example:
        >>> find_columns(("id", "object", "subject", "relation"), ("head", "relation", "tail"), "frame")
        [2, 3, 1]
    """
    for named in (list(words), [field_of(word) for word in words]):
        if all(named.count(field) == 1 for field in fields):
            return [named.index(field) for field in fields]
    return need_order(words, fields, source) if len(words) == len(fields) else None
