"""Launch snippets: how to start a plan with the usual tools, one file per tool."""
