"""Many jobs: looked over before the first one, launched, searched for the best settings, shown as a table."""
