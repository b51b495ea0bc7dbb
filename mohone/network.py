"""`python -m mohone.network FILE --export OUT`: a network embedding of any graph, on its own."""

from __future__ import annotations

import argparse
import logging
import sys
from pathlib import Path

from mohone.configuration.compose import compose_plain
from mohone.core.command_line import Parser, YesNo
from mohone.core.config import CHOICES, Plain
from mohone.core.errors import LAST_SEED, ConfigError, require_choice, require_int
from mohone.core.files import check_file, check_writable
from mohone.core.terminal import exit_code, prepare_terminal, typed
from mohone.core.words import counted

_READ = ("netemb", "network", "trainer", "seed", "dim", "sparse", "allocator", "progress", "check_memory")
_NO_DATASET = "dataset=folder"  # The usual one would suggest its own size.


def main(arguments: list[str] | None = None) -> int:
    """The command line; the exit code is 1 if there is nothing to export."""
    prepare_terminal()
    parser = Parser(prog="python -m mohone.network", description=__doc__)
    parser.add_argument(
        "file", type=Path, help="edges (two fields a line, or three with weights) or triples, UTF-8"
    )
    parser.add_argument("--export", type=Path, required=True, help="OUT.npz, OUT.safetensors or OUT.txt")
    parser.add_argument("--delimiter", type=typed, default="\t", help="between fields; a tab if not given")
    parser.add_argument(
        "--header",
        action=YesNo,
        help="the first line names the columns; if not said: if its words do, and stand nowhere else",
    )
    parser.add_argument(
        "--weights",
        action=YesNo,
        help="the third field is the edge's weight; if not said: if it can be nothing else",
    )
    parser.add_argument("settings", nargs="*", help="like netemb=node2vec netemb.p=0.5 dim=64 seed=1")
    given = parser.parse_intermixed_args(arguments)
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    return exit_code(lambda: _export(given))


def _export(given: argparse.Namespace) -> None:
    check_file("FILE", given.file)
    config = _composed(given.settings)
    # Torch and Lightning take seconds: help and typos should not.
    import pytorch_lightning as pl

    from mohone.core.config import build
    from mohone.core.named_vectors import check_format, write_vectors
    from mohone.core.runtime import prepare_process
    from mohone.data.edges import read_edges
    from mohone.experiment.trainers import TrainerFactory
    from mohone.graph.network import WEIGHTINGS, Network

    out: Path = given.export
    prepare_process(config)
    seed = require_int("seed", config["seed"], 0, LAST_SEED)
    weighting = require_choice("network.weighting", config["network"]["weighting"], WEIGHTINGS)
    if not config["netemb"]:
        raise ConfigError("`netemb` must be a network embedding, but is none.")
    embedding = build("netemb", config["netemb"])
    check_format(out)
    check_writable(out.parent)
    edges = read_edges(given.file, given.delimiter, given.header, given.weights)
    if not len(edges.ends):
        raise ConfigError(f"{given.file} must hold edges, but is empty.")
    for note in edges.notes:
        logging.warning("%s: %s.", given.file, note)
    names = edges.names
    head, tail = edges.ends.T
    network = Network.from_edges(head, tail, len(names), weighting, edges.weights)
    embedding.check(len(names))
    found = f"{counted(len(names), 'node')}, {counted(network.n_edges, 'edge')}"
    logging.info("%s, %d isolated", found, int(network.isolated.sum()))
    pl.seed_everything(seed, verbose=False)
    vectors, notes = embedding.fit(network, TrainerFactory(config["trainer"], out.parent), seed)
    write_vectors(out, names, vectors)
    loss = f", loss {notes['loss']:.3f} nats" if notes["loss"] is not None else ""
    logging.info("%s objective%s; wrote %s", notes["objective"], loss, out)


def _composed(settings: list[str]) -> Plain:
    """The configuration that settings say.

    Raises:
        ConfigError: one that a network embedding has no use for.
    """
    config = compose_plain([_NO_DATASET, *settings])
    usual = compose_plain([_NO_DATASET, f"dim={config['dim']}", f"seed={config['seed']}"])
    for group in sorted(set(config) - {*_READ, CHOICES}):
        if config[group] != usual[group]:
            raise ConfigError(
                f"`{group}` must be left out, for a network embedding alone has no use for it, but is given."
            )
    return config


if __name__ == "__main__":
    sys.exit(main())
