"""What can be done from Python: `mohone.load`, `fit`, `embed_network`, `infuse`, and what they return.

A thin room on top of `experiment`: it says in Python what a command line says in words; the same stages run,
and are kept in the same store. `import mohone` knows all by name, and imports it when it is first asked for.
"""
