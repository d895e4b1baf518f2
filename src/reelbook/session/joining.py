"""`join()`: joins a class that a teacher serves, by its address and its code. The key is kept in the home."""

import hashlib
import json
import os
import re
import secrets
from pathlib import Path
from typing import Any, Final

from .. import settings, wire
from ..atomic_files import write_whole
from ..client.transport import trust
from ..errors import ClassroomError, InvalidInput, ServiceUnreachable
from ..formatting import terminal_line
from ..saved_files import writing
from ..secret import Secret
from .connector import ask_once, connected
from .session import Session

SECONDS: Final = 20.0
LONGEST_SAID: Final = 300


def join(
    address: str,
    code: str | None = None,
    *,
    name: str,
    home: str | os.PathLike[str] | None = None,
    verify: str | os.PathLike[str] | None = None,
) -> Session:
    """Joins the class at `address` and returns a Session on it; the same call returns the same one.

        session = rb.join(address, "KFX-204", name="Ada")

    `address` and `code` are on the teacher's screen. The address of any page of the class will do, and so
    will a `code` for another device, from your own page. Without a code, the key of an earlier call is used,
    or the code is asked for. The key is kept in `home` (`REELBOOK_HOME`), readable only by you. `verify` is a
    file with the class's certificate (PEM), for an https address whose signer this computer doesn't know.

    Raises ClassroomError with the class's own words for a wrong code (after five of them you have to wait), a
    name that is taken, a class that has ended, and a certificate that isn't trusted; ConfigurationError for
    an invalid address or certificate, InvalidInput without a name, ServiceUnreachable where nobody answers,
    and ReelbookError where the key can't be kept.
    """
    url = settings.checked_base_url(_origin(address))
    settings.warn_if_insecure(url)
    if verify is not None:
        trust(url, verify)
    if not isinstance(name, str) or not name.strip():
        raise InvalidInput("Joining needs your name, as the class knows you. Nothing was sent.")
    folder = settings.home(home)
    kept = _KeyFile(folder, url, name)
    key = kept.key(code)
    # The teacher may have released the name meanwhile.
    if key is None or _ask(url, key, "GET", wire.BALANCE)[0] == 401:
        code = input("Code: ") if code is None else code
        key = _joined(url, code, name, kept.token())
        kept.keep(code, key)
    return connected(url, key, folder, settings.max_spend_usd(), "home")


def _origin(address: str) -> str:
    """The address without the rest of a link, and with the "http://" that the teacher's screen leaves out."""
    link = address.strip()
    if "://" not in link and re.search("[.:]", link):  # a code given as the address has neither
        link = f"http://{link}"
    scheme, found, rest = link.rpartition("://")
    return f"{scheme}{found}{re.split('[/?#]', rest)[0]}"


class _KeyFile:
    """The file in which a home keeps the key of one name at one address, readable only by its owner."""

    def __init__(self, home: Path, url: str, name: str) -> None:
        plain = f"{url}\n{' '.join(name.split()).casefold()}"
        digest = hashlib.sha256(plain.encode(errors="surrogatepass")).hexdigest()
        self._path = home / "joined" / f"{digest[:16]}.json"

    def key(self, code: str | None) -> Secret | None:
        """The key that was kept for this code; without a code, the last one."""
        known = self._known()
        if known.get("api_key") and (code is None or _digest(code) == known.get("code")):
            return Secret(known["api_key"])
        return None

    def token(self) -> Secret:
        """Proves that the same person asks again after a lost answer; so it is written before it is used."""
        known = self._known()
        if "token" not in known:
            known["token"] = secrets.token_urlsafe(24)
            self._write(known)
        return Secret(known["token"])

    def keep(self, code: str, key: Secret) -> None:
        self._write({**self._known(), "api_key": key.reveal(), "code": _digest(code)})

    def _known(self) -> dict[str, Any]:
        try:
            known = json.loads(self._path.read_bytes())
        except (OSError, ValueError):
            return {}
        return known if isinstance(known, dict) else {}

    def _write(self, known: dict[str, Any]) -> None:
        with writing(str(self._path), "Join again once it can be."):
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_whole(self._path, json.dumps(known).encode())


def _joined(url: str, code: str, name: str, token: Secret) -> Secret:
    asked = {"code": code, "name": name, "token": token.reveal()}
    status, body = _ask(url, Secret("none"), "POST", wire.ROOM_JOIN, asked)
    if status == 404:
        raise ClassroomError(f"No class is served at {url}. Compare the address with the one on the screen.")
    if status != 200:
        said = terminal_line(wire.words(body), LONGEST_SAID) or f"It answered with status {status}."
        raise ClassroomError(f"{said} You haven't joined.")
    key = body.get("api_key")
    if not isinstance(key, str) or not key:
        raise ClassroomError(f"{url} is not a class's address. Compare it with the one on the screen.")
    return settings.checked_key(Secret(key))


def _ask(
    url: str, key: Secret, method: str, path: str, body: dict[str, Any] | None = None
) -> tuple[int, dict[str, Any]]:
    try:
        return ask_once(url, key, method, path, body, seconds=SECONDS)
    except ServiceUnreachable as error:
        _, untrusted, why = str(error).partition("certificate verify failed: ")
        if untrusted:
            raise ClassroomError(
                f"This computer doesn't trust the certificate at {url}: {why.partition(' (_ssl')[0]}. "
                "Nothing was sent. Ask your teacher for the class's certificate, and name its file: "
                'rb.join(…, verify="class.pem").'
            ) from None
        raise


def _digest(code: str) -> str:
    plain = "".join(each for each in code.upper() if each.isalnum())
    return hashlib.sha256(plain.encode()).hexdigest()[:16]
