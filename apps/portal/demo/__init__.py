"""The demonstration fleet: real tool output with its origin, and the story that is told with it."""
