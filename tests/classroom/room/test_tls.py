"""A class that is served with a certificate which nobody but the teacher signed."""

import ssl
import subprocess
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

import reelbook as rb
from reelbook.classroom.room.app import Room
from reelbook.classroom.room.serving import in_thread
from reelbook.errors import ClassroomError, ConfigurationError


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """For 127.0.0.1; its key lies beside it."""
    path = tmp_path / "class.pem"
    make = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=class"]
    named = ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", f"{tmp_path}/key.pem", "-out", str(path)]
    subprocess.run([*make, *named], check=True, capture_output=True)
    return path


@pytest.fixture
def room(teacher: rb.Session, certificate: Path) -> Iterator[Room]:
    """A room over https."""
    with in_thread(teacher, "FOX-234", certificate=(certificate, certificate.with_name("key.pem"))) as room:
        yield room


def test_an_unknown_certificate_is_said_and_its_file_helps(
    room: Room, certificate: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is sent before; with the file the class is joined and a clip comes. The computer's own
    certificates are needed, too.
    """
    home = tmp_path / "student"
    with pytest.raises(ClassroomError, match=r"doesn't trust the certificate at https://.*verify="):
        rb.join(room.url, "FOX-234", name="Ada", home=home)
    for unusable in (tmp_path / "none.pem", "none\0.pem"):
        with pytest.raises(ConfigurationError, match="can't be read as a certificate"):
            rb.join(room.url, "FOX-234", name="Ada", home=home, verify=unusable)
    with monkeypatch.context() as computer:
        computer.setenv("SSL_CERT_FILE", "/nowhere.pem")
        with pytest.raises(ConfigurationError, match="SSL_CERT_FILE can't be read"):
            rb.join(room.url, "FOX-234", name="Ada", home=home, verify=certificate)
    assert room.store.students() == []

    with rb.join(room.url, "FOX-234", name="Ada", home=home, verify=certificate) as session:
        clip = session.text_to_video("a fox", duration_seconds=1).result(60)
    assert clip.path.stat().st_size > 1000


def test_its_cookies_travel_encrypted_only(room: Room, certificate: Path) -> None:
    """And its pages know the address with which students reach them."""
    known = ssl.create_default_context(cafile=certificate)
    with httpx.Client(base_url=room.url, verify=known, trust_env=False) as browser:
        first = browser.get("/").text
        assert "Join a class" in first
        assert "can be read by others" not in first
        joined = browser.post("/", data={"name": "Ada", "code": "FOX-234"})
        assert "Secure" in joined.headers["set-cookie"]
        assert f"rb.join('{room.url}'" in browser.get("/mine/class.ipynb").text
