"""What fits, how fast, and what adding cards buys."""
