"""Where the key, the address and the folder come from."""

import sys
from pathlib import Path
from unittest.mock import Mock

import keyring
import pytest
from keyring.errors import PasswordSetError

from reelbook import settings
from reelbook.errors import ConfigurationError
from reelbook.secret import Secret


@pytest.fixture(autouse=True)
def _no_memory() -> None:
    settings._from_colab.cache_clear()


def test_an_argument_goes_before_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """The source is told, white space around a pasted key is dropped, and nothing configured is None. An
    empty key is a mistake, not a wish for the next source.
    """
    assert settings.find("REELBOOK_API_KEY") is None
    monkeypatch.setenv("REELBOOK_API_KEY", " from-environment\n")
    assert settings.find("REELBOOK_API_KEY") == settings.Found(Secret("from-environment"), "environment")
    found = settings.find("REELBOOK_API_KEY", " from-argument\n")
    assert found == settings.Found(Secret("from-argument"), "argument")
    with pytest.raises(ConfigurationError, match="API key given is empty"):
        settings.find("REELBOOK_API_KEY", "  ")


def test_what_is_kept_in_the_keyring_is_found_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """Unless an empty variable hides it. No chain of errors holds a key that the keyring refuses."""
    kept: dict[tuple[str, str], str] = {}
    backend = Mock(priority=1, get_password=lambda *name: kept.get(name))
    backend.set_password = lambda service, name, value: kept.update({(service, name): value})
    monkeypatch.setattr(keyring.core, "_keyring_backend", backend)
    settings.keep(Secret("sk-kept"), "https://host")
    for name, value in (("REELBOOK_API_KEY", "sk-kept"), ("REELBOOK_BASE_URL", "https://host")):
        assert settings.find(name) == settings.Found(Secret(value), "keyring")
        monkeypatch.setenv(name, "")
        assert settings.find(name) is None
    backend.set_password = Mock(side_effect=PasswordSetError)
    with pytest.raises(ConfigurationError, match="refused it") as refused:
        settings.keep(Secret("sk-planted"), "https://host")
    assert refused.value.__context__ is None


def in_colab(monkeypatch: pytest.MonkeyPatch, secret: str | None) -> Mock:
    """What this kernel, now in Colab, is asked for a secret with; None is one that the person refuses."""
    names = ("SecretNotFoundError", "NotebookAccessError", "TimeoutException")
    errors = {name: type(name, (Exception,), {}) for name in names}
    get = Mock(return_value=secret, side_effect=errors["NotebookAccessError"] if secret is None else None)
    monkeypatch.setitem(sys.modules, "google.colab", Mock(userdata=Mock(get=get, **errors)))
    return get


def test_a_colab_secret_is_found_and_a_refusal_is_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    """A secret of the same name is the setting; who said no to Colab's dialog isn't asked a second time."""
    in_colab(monkeypatch, "sk-colab")
    assert settings.find("REELBOOK_API_KEY") == settings.Found(Secret("sk-colab"), "Colab secret")
    get = in_colab(monkeypatch, None)
    assert [settings.find("REELBOOK_USER_ID") for _ in range(2)] == [None, None]
    get.assert_called_once_with("REELBOOK_USER_ID")


@pytest.mark.parametrize(
    "url",
    [
        *("ftp://host", "host", "https://", "https://user:pw@host", "https://host/?key=sk-planted"),
        *("http://h:x", "http://exa mple", "https://exa\tmple", "https://sk-planted|pw", r"https://host\api"),
    ],
)
def test_an_address_that_no_key_may_go_to_is_refused_unquoted(url: str) -> None:
    """The error doesn't repeat what may be a credential."""
    with pytest.raises(ConfigurationError) as refused:
        settings.checked_base_url(url)
    assert "sk-planted" not in str(refused.value)
    assert "pw" not in str(refused.value)


def test_plain_http_beyond_this_machine_warns() -> None:
    """A key that would travel unencrypted is warned about; the sandbox's address brings no warning."""
    assert settings.checked_base_url("http://classroom.local:8080/") == "http://classroom.local:8080"
    with pytest.warns(settings.InsecureAddress, match=r"classroom\.local"):
        settings.warn_if_insecure("http://classroom.local:8080")
    settings.warn_if_insecure("http://127.0.0.1:1234")
    settings.warn_if_insecure("https://host.example")


@pytest.mark.parametrize("url", ["https://host.example/api/v1", "https://host.example/api/v1/"])
def test_the_api_s_own_path_may_be_copied_along(url: str) -> None:
    """It would stand twice in every request; what else is in the path belongs to the address."""
    assert settings.checked_base_url(url) == "https://host.example"
    assert settings.checked_base_url("https://host.example/video/api/v1") == "https://host.example/video"
    assert settings.checked_mcp_url(url) == "https://host.example/api/v1"


@pytest.mark.parametrize("key", ["sk with space", "sk\nnewline", "sk-ü"])
def test_a_key_that_cant_stand_in_a_header_is_refused_unquoted(key: str) -> None:
    """The error names the trouble and not the key."""
    with pytest.raises(ConfigurationError) as refused:
        settings.checked_key(Secret(key))
    assert key not in str(refused.value)


def test_home_follows_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """`REELBOOK_HOME` moves the folder."""
    monkeypatch.setenv("REELBOOK_HOME", str(tmp_path / "here"))
    assert settings.home() == tmp_path / "here"
    with pytest.raises(ConfigurationError, match="There is no home '~nobody-here/reelbook'"):
        settings.home("~nobody-here/reelbook")
    with pytest.raises(ConfigurationError, match=r"'.*caf\\udce9' isn't text in UTF-8"):
        settings.home("caf\udce9")  # as an old disk names it: no clip could be recorded there
