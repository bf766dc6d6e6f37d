"""Clusters, domains, nodes, accelerators, links, and the holds on nodes."""
