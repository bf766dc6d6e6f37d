"""The portal's apps, one folder each; which may import which is drawn in docs/architecture.md."""
