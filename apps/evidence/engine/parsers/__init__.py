"""One file per format. A new format is a copy of its neighbour; files that start with _ are shared pieces."""
