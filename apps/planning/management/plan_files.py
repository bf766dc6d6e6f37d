"""Plan files: reading JSON for the plan commands and reporting what is wrong with it on one line each."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import NoReturn

from apps.core.errors import Invalid

BAD_INPUT = 2


def load_json(path: str) -> object:
    """The JSON of a file, or of standard input for `-`. Exits 2 where there is none."""
    try:
        text = sys.stdin.read() if path == "-" else Path(path).read_text(encoding="utf-8")
        return json.loads(text)
    except OSError as error:
        stop(f"{path}: {error.strerror}")
    except UnicodeDecodeError:
        stop(f"{path}: not UTF-8")
    except json.JSONDecodeError as error:
        stop(f"{path}:{error.lineno}:{error.colno}: not JSON: {error.msg}")
    except (ValueError, RecursionError) as error:  # thousands of digits, or lists in lists without end
        stop(f"{path}: not JSON: {error}")


def refuse(error: Invalid) -> NoReturn:
    """Print each problem with its JSON pointer and exit 2."""
    lines = [f"{problem.pointer or '/'}: {problem.message} [{problem.code}]" for problem in error.errors]
    stop("\n".join(lines or [f"/: {error.message} [{error.code}]"]))


def stop(message: str) -> NoReturn:
    """Print to standard error and exit 2."""
    sys.stderr.write(message + "\n")
    raise SystemExit(BAD_INPUT)
