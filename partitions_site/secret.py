"""The secret that signs sessions: given, or made once and kept beside the database."""

import os
import secrets
from pathlib import Path

from partitions_site.environment import WrongSetting


def kept_secret(path: Path) -> str:
    """The secret in `path`, made on the first call; only its owner may read the file.

    Two processes that start together agree: one links its finished file into place, the other reads it.

    :raises WrongSetting: if its directory cannot be used.
    """
    try:
        return _kept(path)
    except OSError as error:
        raise WrongSetting(f"The data directory {path.parent} cannot be used: {error.strerror}") from error


def _kept(path: Path) -> str:
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_name(f"{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
        draft.touch(mode=0o600)
        draft.write_text(secrets.token_urlsafe(50))
        try:
            os.link(draft, path)
        except FileExistsError:
            pass
        finally:
            draft.unlink()
    return path.read_text().strip()
