"""The benchmark of models: our training and evaluation beside PyKEEN's, and beside what bounds them.

| file | |
| --- | --- |
| `cli.py` | the command line: runs the plan, writes what comes out |
| `plan.py` | which measurements there are, in which order |
| `processes.py`, `child.py` | a measurement in a process of its own: started, and inside |
| `training.py`, `evaluation.py` | ours |
| `in_pykeen.py` | PyKEEN's |
| `products.py`, `lightning_share.py` | floors: bare matrix products, a training loop without Lightning |
| `quality.py` | time to a validation MRR |
| `subjects.py`, `clock.py` | data sets, models, objectives and batches by name; steps timed |
| `ratios.py`, `tables.py`, `figures.py`, `picture.py` | figures compared and shown |
| `machine.py` | where and with what was measured |

Whatever runs in the starting process imports no torch: a child's peak memory starts from its parent's.
"""
