"""How often something may be tried in a window of time, with a row of the database or, where it is there, Redis."""

from __future__ import annotations

import threading
from datetime import timedelta

from django.conf import settings
from django.core.cache import cache
from django.db import IntegrityError, transaction
from django.db.models import F
from redis.exceptions import RedisError

from apps.accounts.models import RateWindow
from apps.core import clock, digest
from apps.core.errors import TooMany

SIGN_IN_WINDOW_S = 300
SIGN_INS_OF_ADDRESS = 10  # tries for one account from one place; right ones count too
SIGN_INS_OF_ADDRESS_ANYWHERE = 100
SIGN_INS_FROM_IP = 60
_SHARES = 20  # a process counts this fraction of an API limit by itself before it tells the row
_SPENT = -1
_own: dict[tuple[str, int], int] = {}  # (bucket, window) to requests seen by this process, or _SPENT
_own_lock = threading.Lock()


def take(bucket: str, *, limit: int, window_s: int) -> None:
    """Count one try. Raises TooMany (retry_after_s) where the window is full.

    bucket: what is counted, such as "sign-in:address"; limit: tries in each window of window_s seconds.
    """
    _take(bucket, 1, limit=limit, window_s=window_s)


def take_sign_in(*, email: str, ip: str) -> None:
    """One try to sign in. Raises TooMany (retry_after_s).

    Counted for each place by itself, so that a stranger who guesses does not shut the account's owner out.
    """
    account = digest.of_text(email.strip().lower())[:32]
    place = digest.of_text(ip)[:16]
    take(f"sign-in:{account}:{place}", limit=SIGN_INS_OF_ADDRESS, window_s=SIGN_IN_WINDOW_S)
    take(f"sign-in-ip:{ip}", limit=SIGN_INS_FROM_IP, window_s=SIGN_IN_WINDOW_S)
    take(f"sign-in-any:{account}", limit=SIGN_INS_OF_ADDRESS_ANYWHERE, window_s=SIGN_IN_WINDOW_S)


def take_confirmation(*, person_id: int) -> None:
    """One try to confirm the password within a session, which no sign-in uses up. Raises TooMany."""
    take(f"confirm:{person_id}", limit=SIGN_INS_OF_ADDRESS, window_s=SIGN_IN_WINDOW_S)


def take_api(caller: str, *, bucket: str, limit: int) -> None:
    """One request of a caller to the API, of `limit` a minute. Raises TooMany (retry_after_s).

    Without Redis a process counts alone at first and tells the row in lots, so that readers do not write.
    """
    name = f"api:{bucket}:{caller}"
    if settings.REDIS_URL:
        _take(name, 1, limit=limit, window_s=60)
        return
    window = int(clock.now().timestamp()) // 60
    lot = max(1, limit // _SHARES)
    if _count_own(name, window) % lot:
        return
    try:
        _take(name, lot, limit=limit, window_s=60)
    except TooMany:
        with _own_lock:
            _own[name, window] = _SPENT
        raise


def _count_own(name: str, window: int) -> int:
    """One more request that this process has seen in the window; 0 where the limit was met before."""
    with _own_lock:
        for key in [key for key in _own if key[1] != window]:
            del _own[key]
        if _own.get((name, window)) == _SPENT:
            return 0
        _own[name, window] = _own.get((name, window), 0) + 1
        return _own[name, window]


def forget_old_windows() -> int:
    """Remove the rows of windows that are long over; gives how many."""
    before = int((clock.now() - timedelta(days=1)).timestamp())
    return RateWindow.objects.filter(ends_at_s__lt=before).delete()[0]


def _take(bucket: str, amount: int, *, limit: int, window_s: int) -> None:
    now_s = int(clock.now().timestamp())
    window = now_s // window_s
    fits = _fits_redis(f"limit:{bucket}:{window}", amount, limit=limit, window_s=window_s)
    if fits is None:
        fits = _fits_row(bucket, window, amount, limit=limit, window_s=window_s)
    if not fits:
        raise TooMany(retry_after_s=max(1, (window + 1) * window_s - now_s))


def _fits_redis(key: str, amount: int, *, limit: int, window_s: int) -> bool | None:
    """None where there is no Redis, or it does not answer, or it forgets the count at once."""
    if not settings.REDIS_URL:
        return None
    try:
        cache.add(key, 0, timeout=2 * window_s)
        return cache.incr(key, amount) <= limit
    except (RedisError, ValueError):
        return None


def _fits_row(bucket: str, window: int, amount: int, *, limit: int, window_s: int) -> bool:
    """Count up where the limit allows; one statement decides, so that two at once cannot both be the last."""
    rows = RateWindow.objects.filter(bucket=bucket, window=window)

    def counts_up() -> bool:
        return bool(rows.filter(count__lte=limit - amount).update(count=F("count") + amount))

    if counts_up():
        return True
    if rows.exists():  # it is full, or was made meanwhile
        return counts_up()
    try:
        with transaction.atomic():
            RateWindow.objects.create(
                bucket=bucket, window=window, count=amount, ends_at_s=(window + 1) * window_s
            )
    except IntegrityError:  # somebody else was first in this window
        return counts_up()
    return amount <= limit
