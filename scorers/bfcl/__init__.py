"""Function calls judged by the rules of the Berkeley Function-Calling Leaderboard (BFCL, Patil et al., ICML 2025)."""
