"""Secrets as they are kept: encrypted, so that who reads the database has none of them.

The keys stand in HEADRACE_SECRETS_KEY, several by comma, or in a file of the data folder. The
first one encrypts, all of them decrypt.
"""

from pathlib import Path

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings

from builder.secret_key import kept_text, write_private


class NotReadable(Exception):
    """A secret was encrypted by a key that is not there any more."""


class KeysElsewhere(Exception):
    """The keys stand in the environment, where only the administrator can change them."""


def seal(text: str) -> str:
    """Encrypt a secret."""
    return _keys().encrypt(text.encode()).decode()


def unseal(token: str) -> str:
    """Decrypt a secret. Raises NotReadable."""
    try:
        return _keys().decrypt(token.encode()).decode()
    except InvalidToken:
        raise NotReadable("It was encrypted by a key that is not there any more.") from None


def sealed_anew(token: str) -> str:
    """The same secret, encrypted by the first key. Raises NotReadable."""
    try:
        return _keys().rotate(token.encode()).decode()
    except InvalidToken:
        raise NotReadable("It was encrypted by a key that is not there any more.") from None


def add_key() -> None:
    """Put a new key before the one in use; those before that are forgotten.

    Raises KeysElsewhere.
    """
    if settings.ENVIRONMENT.secrets_key:
        raise KeysElsewhere
    path = _path()
    in_use = _texts()[0]
    mine = path.with_name("secrets_key.new")
    write_private(mine, f"{Fernet.generate_key().decode()},{in_use}")
    mine.replace(path)


def _keys() -> MultiFernet:
    return MultiFernet([Fernet(key) for key in _texts()])


def _texts() -> list[str]:
    """The keys, read at each use: another process may have added one."""
    text = settings.ENVIRONMENT.secrets_key
    if not text:
        text = kept_text(_path(), lambda: Fernet.generate_key().decode())
    return [key.strip() for key in text.split(",") if key.strip()]


def _path() -> Path:
    folder: Path = settings.HEADRACE_DATA
    return folder / "secrets_key"
