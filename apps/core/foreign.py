"""What the libraries that read JSON and YAML say is wrong with a text, as sentences that are translated.

A sentence of theirs that is not among these stays English.
"""

from __future__ import annotations

from apps.core.texts import Text, say

KNOWN = (
    say("Expecting value"),
    say("Expecting property name enclosed in double quotes"),
    say("Expecting ':' delimiter"),
    say("Expecting ',' delimiter"),
    say("Extra data"),
    say("Unterminated string starting at"),
    say("Invalid control character at"),
    say("control characters are not allowed"),
    say("could not find expected ':'"),
    say("did not find expected ',' or ']'"),
    say("did not find expected ',' or '}'"),
    say("did not find expected '-' indicator"),
    say("did not find expected <document start>"),
    say("did not find expected key"),
    say("did not find expected node content"),
    say("block sequence entries are not allowed in this context"),
    say("mapping values are not allowed in this context"),
    say("found character that cannot start any token"),
    say("found undefined alias"),
    say("found unexpected end of stream"),
    say("found unknown escape character"),
    say("found duplicate anchor"),
)


def why(fault: Exception) -> Text:
    """What a fault of such a library says, without its place."""
    if isinstance(fault, RecursionError):
        return say("it is nested too deeply")
    names = ("msg", "problem", "reason")
    found = next((told for name in names if (told := getattr(fault, name, None))), fault.args[0])
    return found if isinstance(found, Text) else Text(str(found))
