"""The only room that knows configuration and disk together: jobs, their stages, where those are kept."""
