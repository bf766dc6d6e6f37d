"""Reference data with source and confidence: accelerators, supernodes, models, versions, fault codes, variables."""
