"""Evidence becomes clean lines whatever wrote it, numbered as it arrived."""

from __future__ import annotations

import html
import io
from typing import BinaryIO

import pytest

from apps.evidence.engine.reading import Unreadable
from apps.evidence.engine.source import LINE_LIMIT_CHARS, WHOLE_LIMIT_BYTES, Line, Source

TEXT = "GPU 0: NVIDIA H200 的\n\n\tLink 0: <inactive>\n"
LINES = [Line(1, "GPU 0: NVIDIA H200 的"), Line(2, ""), Line(3, "\tLink 0: <inactive>")]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r", "\r\r\n"])
def test_encodings_and_line_ends_give_the_same_lines(encoding: str, end: str) -> None:
    padding = "x" * 40 + "\n"  # a text of a few letters does not show its encoding without a mark
    source = Source.of_bytes((TEXT + padding).replace("\n", end).encode(encoding))
    assert list(source.lines())[:3] == LINES
    assert source.text() == TEXT + padding
    assert source.sample == TEXT + padding


def test_escape_codes_controls_and_no_break_blanks_are_taken_out_and_tabs_stay() -> None:
    source = Source.of_text("\x1b[4mGPU0\x1b[0m\t\x00 X \x07\x1b]0;title\x07\xa0end")
    assert source.text() == "GPU0\t X  end"


def test_text_of_a_web_page_is_unescaped_and_keeps_its_line_numbers() -> None:
    page = f"<details><summary>Output</summary>\n<pre>{html.escape(TEXT)}</pre>\n</details>"
    assert [line for line in Source.of_text(page).lines() if line.text][:2] == [
        Line(2, "GPU 0: NVIDIA H200 的"),
        Line(4, "\tLink 0: <inactive>"),
    ]


@pytest.mark.parametrize("document", ["<a>&lt;b&gt;</a>", '{"a": "&quot;b&lt;"}', "[1,0]<stdout>: a &amp; b"])
def test_a_document_with_entities_of_its_own_is_left_alone(document: str) -> None:
    assert Source.of_text(document).text() == document


@pytest.mark.parametrize("end", ["\r\n", "\r\r\n"])
def test_a_line_end_on_the_limit_of_a_line_is_one_end(end: str) -> None:
    source = Source.of_text("x" * (LINE_LIMIT_CHARS - 1) + end + "next" + end)
    assert [(line.number, len(line.text)) for line in source.lines()] == [(1, LINE_LIMIT_CHARS - 1), (2, 4)]


def test_a_line_without_end_is_cut_and_the_next_keeps_its_number() -> None:
    source = Source.of_text("x" * (3 * LINE_LIMIT_CHARS) + "\nnext\n")
    lines = list(source.lines())
    assert len(lines[0].text) == LINE_LIMIT_CHARS
    assert lines[1] == Line(2, "next")


@pytest.mark.parametrize("data", [b"", b"\n \r\n", b"\xef\xbb\xbf", b"\xff\xfe\n\x00", b"\x00" * 64])
def test_an_empty_file_is_refused(data: bytes) -> None:
    with pytest.raises(Unreadable) as refused:
        _ = Source.of_bytes(data).sample
    assert refused.value.code == "empty"


def test_binary_data_is_refused() -> None:
    with pytest.raises(Unreadable) as refused:
        _ = Source.of_bytes(bytes(range(256)) * 16).sample
    assert refused.value.code == "binary"


def test_a_few_broken_bytes_do_not_make_a_log_binary() -> None:
    assert Source.of_bytes(b"a log line\n" * 50 + b"\xff\xfe\xfa\n").sample.startswith("a log line")


class Endless(io.RawIOBase):
    """A stream of one line over and over, which counts what was taken from it."""

    def __init__(self) -> None:
        self.taken = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        view = memoryview(buffer).cast("B")  # type: ignore[arg-type]
        block = b"0123456789abcde\n" * (len(view) // 16 or 1)
        size = min(len(view), len(block))
        view[:size] = block[:size]
        self.taken += size
        return size


def test_a_large_file_is_streamed_and_only_formats_that_need_it_whole_refuse_it() -> None:
    streams: list[Endless] = []

    def opened() -> BinaryIO:
        streams.append(Endless())
        return io.BufferedReader(streams[-1])

    source = Source(opened)
    assert next(source.lines()) == Line(1, "0123456789abcde")
    assert sum(stream.taken for stream in streams) < 1024 * 1024
    with pytest.raises(Unreadable) as refused:
        source.text()
    assert refused.value.code == "too_large_for_format"
    assert all(stream.taken <= WHOLE_LIMIT_BYTES + 1024 * 1024 for stream in streams)
