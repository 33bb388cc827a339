"""The one-machine default: what a fresh machine lacks, embedded Redis and Kafka, `make up`."""
