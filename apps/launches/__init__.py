"""The launch checklist, its evaluations, waivers and sign-offs."""
