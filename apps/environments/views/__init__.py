"""Pages of environments: who differs, and from what?"""
