"""Secrets of other systems that the portal has to use: kept encrypted, opened only where they are sent.

The key comes from PORTAL_SECRET_KEY, one for each purpose; what an older key of PORTAL_SECRET_KEY_FALLBACKS
sealed can still be opened. A copy of the database alone opens nothing.
"""

from __future__ import annotations

import base64

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings


class CannotOpen(Exception):
    """No key that we have opens it: PORTAL_SECRET_KEY was changed without keeping the old one."""


def seal(text: str, *, purpose: str) -> str:
    """The text encrypted and signed, as ASCII. purpose: what it is for; sealed for one it opens for no other."""
    return _keys(purpose).encrypt(text.encode()).decode("ascii")


def unseal(sealed: str, *, purpose: str) -> str:
    """The text that was sealed for the purpose. Raises CannotOpen."""
    try:
        return _keys(purpose).decrypt(sealed.encode("ascii")).decode()
    except (InvalidToken, UnicodeEncodeError) as error:
        raise CannotOpen from error


def _keys(purpose: str) -> MultiFernet:
    secrets = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
    return MultiFernet([Fernet(_key(secret, purpose)) for secret in secrets])


def _key(secret: str, purpose: str) -> bytes:
    derived = HKDF(algorithm=hashes.SHA256(), length=32, salt=None, info=f"portal {purpose}".encode())
    return base64.urlsafe_b64encode(derived.derive(secret.encode()))
