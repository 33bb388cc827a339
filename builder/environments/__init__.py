"""Environments: where deployments run: which connections are meant there, and how Spark runs."""
