"""Tests: tests/apps mirrors apps/; docs/testing.md names the fixtures."""
