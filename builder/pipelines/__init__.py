"""Pipelines: drafts, versions, templates."""
