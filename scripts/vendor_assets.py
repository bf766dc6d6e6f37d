"""Carries the browser parts of others into static/vendor, with a manifest of what they are.

Usage, from the root of the checkout, in a folder into which `npm pack` has put the packages:

    npm pack @tabler/core@1.6.1 @tabler/icons@3.52.0 plotly.js-cartesian-dist-min@4.1.1 \
        cytoscape@3.35.0 axe-core@4.14.1
    python scripts/vendor_assets.py FOLDER

htmx is taken from the installed django-htmx, which ships it. Two files are made from Tabler rather than
copied: static/icons.svg (only the icons listed in static/icons.txt), and tabler-auto.css (the dark rules
again, for data-bs-theme="auto" under a dark system preference, so that no script has to choose the theme).
What comes from elsewhere keeps its line in the manifest: tests/vendor/compose-spec.json is the schema inside the
docker compose of that version.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
import tarfile
from dataclasses import dataclass
from importlib.metadata import files as distribution_files
from pathlib import Path

STATIC = Path("static")
SOURCE_MAP = re.compile(rb"\n?/\*# sourceMappingURL=[^*]*\*/\s*$|\n?//# sourceMappingURL=\S*\s*$")
DARK = "[data-bs-theme=dark]"
AUTO = "[data-bs-theme=auto]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One file of one package: where it lies in the package and where it goes in the checkout."""

    name: str
    version: str
    licence: str
    member: str
    target: str

    def archive(self) -> str:
        """File name that npm pack gives the package."""
        return f"{self.name.lstrip('@').replace('/', '-')}-{self.version}.tgz"


TABLER = Part(
    name="@tabler/core",
    version="1.6.1",
    licence="MIT",
    member="dist/css/tabler.min.css",
    target="static/vendor/tabler.min.css",
)
PARTS = (
    TABLER,
    Part(
        name="plotly.js-cartesian-dist-min",
        version="4.1.1",
        licence="MIT",
        member="plotly-cartesian.min.js",
        target="static/vendor/plotly-cartesian.min.js",
    ),
    Part(
        name="cytoscape",
        version="3.35.0",
        licence="MIT",
        member="dist/cytoscape.min.js",
        target="static/vendor/cytoscape.min.js",
    ),
    Part(
        name="axe-core",
        version="4.14.1",
        licence="MPL-2.0",
        member="axe.min.js",
        target="tests/vendor/axe.min.js",
    ),
)
# Icons of the status language that Tabler does not draw: one of its icons with a mark inside.
COMPOSED = {
    "octagon-x": ("octagon", ("M10 10l4 4", "M14 10l-4 4")),
    "circle-dashed-help": (
        "circle-dashed",
        ("M12 16v.01", "M12 13a2 2 0 0 0 .914 -3.782a1.98 1.98 0 0 0 -2.414 .483"),
    ),
}
PAINT = 'fill="none" stroke="currentColor" stroke-width="1.75" stroke-linecap="round" stroke-linejoin="round"'
ICONS = Part(name="@tabler/icons", version="3.52.0", licence="MIT", member="icons", target="static/icons.svg")
HTMX = Part(
    name="htmx.org",
    version="2.0.10",
    licence="0BSD",
    member="django_htmx/static/django_htmx/htmx-2.min.js",
    target="static/vendor/htmx.min.js",
)


def without_source_map(content: bytes) -> bytes:
    """The file without its pointer to a source map, which is not shipped and would break hashed storage."""
    return SOURCE_MAP.sub(b"\n", content)


def packed(folder: Path, part: Part, member: str) -> bytes:
    """Content of one file of an npm package."""
    with tarfile.open(folder / part.archive()) as archive:
        found = archive.extractfile(f"package/{member}")
        if found is None:
            raise FileNotFoundError(member)
        return found.read()


def installed_htmx() -> bytes:
    """The htmx file inside the installed django-htmx."""
    for file in distribution_files("django-htmx") or ():
        if str(file) == HTMX.member:
            return Path(str(file.locate())).read_bytes()
    raise FileNotFoundError(HTMX.member)


def rules_of(css: str) -> list[str]:
    """Top-level rules of a minified style sheet, comments removed, at-rules whole."""
    text = re.sub(r"/\*.*?\*/", "", css, flags=re.DOTALL)
    rules, depth, start = [], 0, 0
    for position, character in enumerate(text):
        if character == "{":
            depth += 1
        elif character == "}":
            depth -= 1
            if depth == 0:
                rules.append(text[start : position + 1])
                start = position + 1
    return rules


def auto_theme(css: str) -> str:
    """The dark rules of Tabler, for people who leave the choice to their system."""
    dark = []
    for rule in rules_of(css):
        selector, _, body = rule.partition("{")
        if selector.startswith("@"):
            continue
        parts = [part for part in selector.split(",") if part.startswith((DARK, f":root{DARK} "))]
        if parts:
            dark.append(",".join(part.replace(DARK, AUTO) for part in parts) + "{" + body)
    return (
        "/* Made by scripts/vendor_assets.py from the dark rules of Tabler (MIT). */\n"
        "@media screen and (prefers-color-scheme:dark){\n" + "\n".join(dark) + "\n}\n"
    )


def sprite(folder: Path, names: list[str]) -> str:
    """One SVG with a symbol per icon."""
    symbols = []
    for name in names:
        drawn, marks = COMPOSED.get(name, (name, ()))
        body = packed(folder, ICONS, f"icons/outline/{drawn}.svg").decode()
        inner = re.sub(r"^.*?<svg[^>]*>|</svg>\s*$", "", body, flags=re.DOTALL)
        inner = re.sub(r'<path stroke="none" d="M0 0h24v24H0z" fill="none"\s*/>', "", inner)
        inner = re.sub(r"\s*\n\s*", "", inner).strip()
        inner += "".join(f'<path d="{mark}" />' for mark in marks)
        symbols.append(f'<symbol id="{name}" viewBox="0 0 24 24" {PAINT}>{inner}</symbol>')
    return '<svg xmlns="http://www.w3.org/2000/svg">\n' + "\n".join(symbols) + "\n</svg>\n"


def write(part: Part, content: bytes, *, change: str = "") -> dict[str, str]:
    """Write one file and return its line of the manifest."""
    target = Path(part.target)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(content)
    entry = {
        "name": part.name,
        "version": part.version,
        "licence": part.licence,
        "file": part.target,
        "sha256": hashlib.sha256(content).hexdigest(),
    }
    return {**entry, "change": change} if change else entry


def main(folder: Path) -> None:
    """Write every file and the manifest."""
    entries = []
    for part in PARTS:
        original = packed(folder, part, part.member)
        content = without_source_map(original)
        change = "" if content == original else "pointer to the source map removed"
        entries.append(write(part, content, change=change))
    entries.append(write(HTMX, installed_htmx()))
    names = (STATIC / "icons.txt").read_text().split()
    entries.append(write(ICONS, sprite(folder, names).encode(), change="listed icons as one sprite"))
    auto = Part(
        name=TABLER.name,
        version=TABLER.version,
        licence=TABLER.licence,
        member=TABLER.member,
        target="static/vendor/tabler-auto.css",
    )
    css = packed(folder, TABLER, TABLER.member).decode()
    entries.append(write(auto, auto_theme(css).encode(), change="dark rules under prefers-color-scheme"))
    manifest = STATIC / "vendor" / "manifest.json"
    written = {entry["file"] for entry in entries}
    entries += [entry for entry in json.loads(manifest.read_text()) if entry["file"] not in written]
    manifest.write_text(json.dumps(sorted(entries, key=lambda entry: entry["file"]), indent=2) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
