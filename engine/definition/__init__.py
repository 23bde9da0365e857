"""What is asked, and by what it is judged: requests, benchmarks with their scorings, digests and paths."""
