"""Monitor: a run's events into the database and to the browser."""
