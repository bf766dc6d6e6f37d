"""Pages of health: which parts are ill, and what to do about it?"""
