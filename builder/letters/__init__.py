"""Dead letters: records that a step could not read, looked at, mended and replayed."""
