"""Deployments: what should run, what does run, and the reconciler between them."""
