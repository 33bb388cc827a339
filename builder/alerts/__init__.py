"""Alerts: rules over what deployments do, what they found, and who is told of it."""
