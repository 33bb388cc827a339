"""Lineage: which run read and wrote which topics, told to a catalogue as OpenLineage says it."""
