"""What spoke for an answer, in words: ids become names."""

from __future__ import annotations

from mohone.core.words import counted
from mohone.data import KnowledgeGraph
from mohone.evidence.explanation import Explanation
from mohone.evidence.reasons import Context, Heat, Linked, Path, Popular, Reason, SimilarAnswer, Vote

_MOST = 3  # Reasons told of each expert.
_NEGLIGIBLE = 5e-4


def sentences(explanation: Explanation, kg: KnowledgeGraph) -> list[str]:
    """One line for each share of the score, the greatest first, with its reasons.

    Args:
        explanation: of one answer.
        kg: for the names.
    """
    model, *others = explanation.shares
    lines = [f"{model.contribution:+.3f} the model"]
    by_expert: dict[str, float] = {}
    for share in others:
        by_expert[share.expert] = by_expert.get(share.expert, 0.0) + share.contribution
    for expert, total in sorted(by_expert.items(), key=lambda pair: -abs(pair[1])):
        reasons = [_told(reason, kg) for reason in explanation.reasons[expert][:_MOST]]
        if reasons or abs(total) > _NEGLIGIBLE:
            against = ", which counts against it here" if reasons and total < -_NEGLIGIBLE else ""
            lines.append(f"{total:+.3f} {expert}" + (f": {'; '.join(reasons)}{against}" if reasons else ""))
    return lines


def _told(reason: Reason, kg: KnowledgeGraph) -> str:
    entity = kg.entities.names
    match reason:
        case Vote(neighbor, weight):
            return f"{entity[neighbor]}, near it in the network, has this answer (weight {weight:.2f})"
        case SimilarAnswer(answer, weight):
            return f"near {entity[answer]}, a known answer (weight {weight:.2f})"
        case Heat(scale, times):
            return f"{times:.1f} times the heat that its degree lets expect (scale {scale:g})"
        case Path(relations, entities, confidence):
            return f"{_chain(relations, entities, kg)} (confidence {confidence:.2f})"
        case Context(relation, other, confidence):
            return f"has {_relation(relation, kg)} {entity[other]} (confidence {confidence:.2f})"
        case Popular(times):
            return f"answers this relation {counted(times, 'time')} in train"
        case Linked(relation):
            return f"linked by {_relation(relation, kg)}"
    return type(reason).__name__


def _chain(relations: tuple[int, ...], entities: tuple[int, ...], kg: KnowledgeGraph) -> str:
    """`a -r-> b <-s- c`: a walk, with each edge in its own direction."""
    out = kg.entities.names[entities[0]]
    for relation, entity in zip(relations, entities[1:], strict=True):
        name = kg.relations.names[relation % kg.n_relations]
        arrow = f" -{name}-> " if relation < kg.n_relations else f" <-{name}- "
        out += arrow + kg.entities.names[entity]
    return out


def _relation(relation: int, kg: KnowledgeGraph) -> str:
    """The name of a directed relation."""
    name = kg.relations.names[relation % kg.n_relations]
    return name if relation < kg.n_relations else f"{name} (inverse)"
