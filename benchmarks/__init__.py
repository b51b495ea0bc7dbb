"""Benchmarks: time and memory of our models beside PyKEEN's, and of our network embeddings beside PecanPy's.

`python -m benchmarks.kge --data-dir DATA --out FOLDER` and `python -m benchmarks.networks ...` measure, each
measurement in a process of its own, and leave figures (JSON), a page (Markdown) and a picture in FOLDER.

| file | |
| --- | --- |
| `kge.py`, `kge_page.py` | the command line and the plan for models; its page and picture |
| `networks.py` | the same for network embeddings |
| `processes.py`, `child.py` | a measurement in a process of its own: started, and inside; the machine |
| `clock.py`, `text.py` | steps timed; figures as text |
| `ours.py` | data sets, models, objectives, batches and recipes of Mohone, by name |
| `training.py` | models, through Lightning: an epoch, Lightning's share of a step, time to quality |
| `evaluation.py` | models: our evaluation; the bare matrix products of an evaluation and an epoch |
| `in_pykeen.py` | models: PyKEEN's epoch and evaluation |
| `planted.py`, `planted_plan.py` | a graph with Wikidata5M's counts and planted structure |
| `stages.py` | what the network costs by the size of a planted graph: each stage's seconds and memory |
| `reading.py` | how long millions of triples take to be read |
| `graphs.py`, `embeddings.py`, `peer_node2vec.py` | networks: graphs, what is measured on them, the rival |
| `elsewhere.py`, `peer_pykeen.py` | models that PyKEEN trained, infused here, and ranked by PyKEEN |

What runs in the starting process imports no torch: a child's peak memory starts from its parent's. Nor does
`ours.py` import Lightning.
"""
