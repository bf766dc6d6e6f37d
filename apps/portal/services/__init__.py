"""What joins several apps: the intake of any file, and the demonstration fleet."""
