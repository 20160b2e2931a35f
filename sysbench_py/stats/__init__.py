"""What a run measured: the result model and how it is made from the core's counts."""
