"""What pages that join several apps show, as plain values."""
