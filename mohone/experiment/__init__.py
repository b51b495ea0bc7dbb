"""One job: the only room that knows configuration and disk together, its stages and where those are kept."""
