"""Raw tool output as it arrived, and what was read from it."""
