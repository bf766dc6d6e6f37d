"""Pages that join several apps."""
