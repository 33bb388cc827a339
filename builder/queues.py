"""The queues of tasks that workers answer."""

# Those whose workers keep a Spark warm.
WITH_SPARK = ("spark", "rehearsal")
