"""What a job is told: composed by Hydra, resolved to plain types, checked before anything is made of it."""
