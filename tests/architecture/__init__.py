"""What the house promises about itself, looked up in its sources."""
