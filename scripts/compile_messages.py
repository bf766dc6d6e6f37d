"""Compiles locale/*/LC_MESSAGES/*.po with Babel, so that no gettext tools are needed where the portal runs."""

from pathlib import Path

from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po

for source in sorted(Path(__file__).resolve().parent.parent.glob("locale/*/LC_MESSAGES/*.po")):
    target = source.with_suffix(".mo")
    if target.exists() and target.stat().st_mtime >= source.stat().st_mtime:
        continue
    with source.open("rb") as file:
        catalogue = read_po(file, locale=source.parent.parent.name)
    with target.open("wb") as file:
        write_mo(file, catalogue)
