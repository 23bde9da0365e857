"""EvalView's test cases and suites as benchmarks."""
