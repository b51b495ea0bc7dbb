"""What results add up to: tables, charts, figures.

All is read from what jobs left: `result.json`, and for the star beside a rival the `ranks.npz` beside it.
"""
