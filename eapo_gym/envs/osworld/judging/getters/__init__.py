"""What is looked at on the machine, or fetched beside it, before a metric compares: by the benchmark's names."""
