"""Pages that join several apps, search, the intake of any file, and the demo fleet."""
