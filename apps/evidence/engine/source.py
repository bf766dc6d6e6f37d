"""A piece of evidence as clean lines: encodings, line ends, escape codes, NUL bytes and HTML are dealt with here.

Line numbers are those of the bytes as they arrived, so that a warning can point at them.
"""

from __future__ import annotations

import codecs
import html
import io
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import BinaryIO

from apps.core.texts import say
from apps.evidence.engine.reading import Unreadable

SAMPLE_BYTES = 256 * 1024
WHOLE_LIMIT_BYTES = 32 * 1024 * 1024
LINE_LIMIT_CHARS = 64 * 1024

# CSI sequences, OSC sequences and lone two-byte escapes, as terminals write them.
_ESCAPES = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[@-Z\\-_]")
_ENDS = ("\n", "\r")
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
# What a page or an issue puts around pasted text, and how it writes characters that mean something to it.
_WRAPPERS = re.compile(
    r"<summary>[^<\n]{0,200}</summary>|</?(?:details|summary|pre|code|br|p)(?: [^<>\n]{0,200})?/?>",
    re.IGNORECASE,
)
_ENTITIES = re.compile(r"&(?:lt|gt|quot|amp|apos|nbsp|#\d{1,6}|#x[0-9a-f]{1,5});", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Line:
    """One line: its 1-based number and its text without line end, escapes and controls (tabs stay)."""

    number: int
    text: str


class Source:
    """Evidence that can be read several times, as a sample, as lines (streamed), or whole.

    opener: gives a fresh binary stream each time. name: only for messages. keeps_open_end: whether lines() and
    text() give a last line that no line end follows. open_end: that line, once all was read; None without one.
    printed: gives of each clean line what the tool printed, without what a tool above it added.
    """

    def __init__(
        self,
        opener: Callable[[], BinaryIO],
        *,
        name: str = "",
        size_bytes: int | None = None,
        keeps_open_end: bool = True,
        printed: Callable[[str], str] | None = None,
    ) -> None:
        self._opener = opener
        self.name = name
        self.size_bytes = size_bytes
        self.keeps_open_end = keeps_open_end
        self.open_end: Line | None = None
        self._printed = printed

    @classmethod
    def of_bytes(cls, data: bytes, *, name: str = "") -> Source:
        return cls(lambda: io.BytesIO(data), name=name, size_bytes=len(data))

    @classmethod
    def of_text(cls, text: str) -> Source:
        return cls.of_bytes(text.encode())

    def without_open_end(self) -> Source:
        """The same evidence as if its last line were not there, where no line end follows it."""
        return Source(
            self._opener,
            name=self.name,
            size_bytes=self.size_bytes,
            keeps_open_end=False,
            printed=self._printed,
        )

    def as_printed(self, printed: Callable[[str], str]) -> Source:
        """The same evidence, each line as `printed` gives it; it may raise Unreadable."""
        return Source(self._opener, name=self.name, size_bytes=self.size_bytes, printed=printed)

    @cached_property
    def head(self) -> bytes:
        """The first 256 KiB as they arrived."""
        with self._opener() as stream:
            return stream.read(SAMPLE_BYTES)

    @cached_property
    def encoding(self) -> str:
        """utf-8 (also for what is almost UTF-8), utf-16-le, utf-16-be or utf-8-sig.

        Raises Unreadable for an empty file and for binary data.
        """
        head = self.head
        if not head.strip(b"\x00\r\n\t \xef\xbb\xbf\xff\xfe"):
            raise Unreadable(say("the file is empty"), code="empty")
        if head.startswith(codecs.BOM_UTF8):
            return "utf-8-sig"
        if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            return "utf-16"
        even, odd = head[0:4096:2], head[1:4096:2]
        if len(odd) > 8 and odd.count(0) > 0.4 * len(odd) and even.count(0) < 0.05 * len(even):
            return "utf-16-le"
        if len(even) > 8 and even.count(0) > 0.4 * len(even) and odd.count(0) < 0.05 * len(odd):
            return "utf-16-be"
        text = head.decode("utf-8", errors="replace")
        odd_chars = text.count("�") + len(_CONTROLS.findall(_ESCAPES.sub("", text).replace("\x00", "")))
        if odd_chars > 0.1 * len(text):
            raise Unreadable(say("the file is binary data, not text"), code="binary")
        return "utf-8"

    @cached_property
    def sample(self) -> str:
        """The first 256 KiB as clean text, for recognition; lines end with newline."""
        text = self.head.decode(self.encoding, errors="replace")
        return "\n".join(self._plain(part) for part in _with_newlines(text).split("\n"))

    @cached_property
    def is_escaped(self) -> bool:
        """Whether the text was copied from the source of a web page: tags around it, entities instead of < and ".

        A document that holds such characters itself (XML, JSON) is not escaped, even if it has entities.
        """
        text = self.head.decode(self.encoding, errors="replace")
        rest = _WRAPPERS.sub("", text)
        if "<" in rest:
            return False
        return '"' not in rest if _ENTITIES.search(rest) else rest != text

    def _plain(self, text: str) -> str:
        """A line as the tool printed it: no escape codes and controls, no HTML where it is escaped."""
        if self.is_escaped and ("<" in text or "&" in text):
            text = html.unescape(_WRAPPERS.sub("", text))
        text = _clean(text)
        return self._printed(text) if self._printed else text

    def lines(self) -> Iterator[Line]:
        """All lines, streamed; a line is cut after 64 Ki characters."""
        with self._opener() as stream:
            reader = io.TextIOWrapper(stream, encoding=self.encoding, errors="replace", newline="")
            number, whole = 0, ""
            while raw := reader.readline(LINE_LIMIT_CHARS):
                if raw in ("\n", "\r\n") and whole.endswith("\r"):
                    whole = raw  # the rest of a line end
                    continue
                number, whole = number + 1, raw
                while not whole.endswith(_ENDS) and (whole := reader.readline(LINE_LIMIT_CHARS)):
                    pass  # the rest of an overlong line is passed over
                line = Line(number, self._plain(raw.rstrip("\r\n")))
                if not whole.endswith(_ENDS) and not self._keeps(line):
                    return
                yield line

    def _keeps(self, last: Line) -> bool:
        """Remember the last line, which has no line end; gives whether it is to be read."""
        self.open_end = last
        return self.keeps_open_end

    def text(self) -> str:
        """The whole file as clean text. Raises Unreadable above 32 MiB (streaming formats use lines())."""
        with self._opener() as stream:
            data = stream.read(WHOLE_LIMIT_BYTES + 1)
        if len(data) > WHOLE_LIMIT_BYTES:
            raise Unreadable(
                say("the file is too large for its format (32 MiB)"), code="too_large_for_format"
            )
        text = _with_newlines(data.decode(self.encoding, errors="replace"))
        before, end, last = text.rpartition("\n")
        if last and not self._keeps(Line(before.count("\n") + 1 + len(end), self._plain(last))):
            text = before + end
        return "\n".join(self._plain(part) for part in text.split("\n"))


def _with_newlines(text: str) -> str:
    """All line ends as newlines; `\\r\\r\\n`, which comes of an end that was converted twice, is one of them."""
    return text.replace("\r\r\n", "\n").replace("\r\n", "\n").replace("\r", "\n")


def _clean(text: str) -> str:
    if text.isprintable():  # no escape, control, tab or odd blank: nearly every line
        return text
    if "\x1b" in text:
        text = _ESCAPES.sub("", text)
    return _CONTROLS.sub("", text).replace("\xa0", " ")
