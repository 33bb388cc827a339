"""Connections: the Kafka clusters that steps read and write by name."""
