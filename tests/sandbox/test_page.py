"""The sandbox's page, as a browser without scripts uses it."""

import re
from collections.abc import Iterator

import httpx
import pytest
from sandbox.doubles import Client

HOSTILE = "<script>alert(1)</script>\"'&"


@pytest.fixture
def browser(client: Client) -> Iterator[httpx.Client]:
    """A browser that has signed in."""
    with httpx.Client(base_url=client.sandbox.url, trust_env=False) as http:
        answer = enter(http, client.sandbox.control_token.reveal())
        assert (answer.status_code, answer.headers["location"]) == (303, "/")
        yield http


def enter(http: httpx.Client, token: str) -> httpx.Response:
    """Sends the sign-in form."""
    return http.post("/_sandbox/enter", data={"token": token})


def press(http: httpx.Client, action: str, **more: str) -> httpx.Response:
    """Presses one of the page's buttons."""
    return http.post("/_sandbox/page", data={"action": action, **more})


def test_only_the_token_opens_the_page(client: Client) -> None:
    """Nothing is told before, and a wrong token is said under its field."""
    client.submit()
    with httpx.Client(base_url=client.sandbox.url, trust_env=False) as http:
        assert "Token" in http.get("/").text
        assert "left" not in http.get("/").text
        refused = enter(http, "guess")
        assert (refused.status_code, "This isn&#x27;t the token" in refused.text) == (403, True)
        assert press(http, "top up", usd="5").status_code == 403
    assert client.sandbox.state()["balance_usd"] == 25


def test_the_cookie_is_not_the_token(client: Client, browser: httpx.Client) -> None:
    """No script reads it, no other site sends it, and other servers of this host learn nothing by it."""
    token = client.sandbox.control_token.reveal()
    cookie = enter(browser, token).headers["set-cookie"]

    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert token not in cookie
    value = next(iter(browser.cookies.values()))
    answer = browser.post("/_sandbox/stop", headers={"X-Sandbox-Token": value}, json={})
    assert answer.status_code == 403


def test_clips_are_shown_from_waiting_to_done(client: Client, browser: httpx.Client) -> None:
    """With the share that is done, the clip that plays, its cost, and why one failed."""
    client.sandbox.settings(fail_next="no such fox")
    client.submit(prompt=HOSTILE)
    done = client.submit(prompt="a heron")
    assert "Pending" in browser.get("/").text
    client.sandbox.advance(5)
    assert "<progress" in browser.get("/").text
    client.sandbox.advance(10)
    client.wait(done)
    page = browser.get("/").text

    assert "no such fox" in page
    assert "<script>alert" not in page
    (source,) = re.findall(r'<video[^>]* src="([^"]+)"', page)
    assert browser.get(source).headers["content-type"] == "video/mp4"


def test_money_is_topped_up(client: Client, browser: httpx.Client) -> None:
    """To the cent; what is no amount changes nothing and is said."""
    assert press(browser, "top up", usd="$10.55").status_code == 303
    assert client.sandbox.state()["balance_usd"] == 35.55
    assert "$35.55" in browser.get("/").text

    refused = press(browser, "top up", usd="ten")
    assert (refused.status_code, "looks like 10.00" in refused.text) == (400, True)
    assert client.sandbox.state()["balance_usd"] == 35.55


def test_faults_are_let_happen_and_ended(client: Client, browser: httpx.Client) -> None:
    """The page says how often each happened; one that can't be is refused with the control's words."""
    assert press(browser, "fault", kind="500", endpoint="balance", times="2").status_code == 303
    assert client.get("/api/v1/billing/balance").status_code == 500
    assert "500 to balance: happened 1 of 2 times" in browser.get("/").text

    refused = press(browser, "fault", kind="not_found", endpoint="balance", times="1")
    assert "not_found can happen to status only" in refused.text
    for times in ("x", "9" * 5000):
        assert press(browser, "fault", kind="500", endpoint="any", times=times).status_code == 400
    press(browser, "clear")
    assert client.get("/api/v1/billing/balance").status_code == 200


def test_requests_stand_on_a_timeline(client: Client, browser: httpx.Client) -> None:
    """Those of the last two minutes, with the refused ones; the page and its clips aren't among them."""
    client.sandbox.settings(rate_limiting=True)
    browser.get("/videos/unknown.mp4", headers={"Sec-Fetch-Site": "same-origin"})
    for _ in range(12):
        client.get("/api/v1/billing/balance")
    page = browser.get("/").text

    assert "12 requests in the last 2 minutes, 2 refused (429)" in page
    assert re.findall(r'<rect class="(\w+)" x="59" y="(\d+)" width=".8" height="(\d+)"', page) == [
        ("well", "0", "12"),
        ("bad", "10", "2"),
    ]
    client.sandbox.advance(121)
    assert "0 requests in the last 2 minutes" in browser.get("/").text


def test_a_page_that_is_left_open_is_no_use(client: Client, browser: httpx.Client) -> None:
    """The sandbox still ends by itself."""
    before = client.sandbox.state()["idle_seconds"]
    browser.get("/")

    assert client.sandbox.state()["idle_seconds"] >= before


def test_signing_out(browser: httpx.Client) -> None:
    """The cookie is gone."""
    press(browser, "leave")

    assert "Token" in browser.get("/").text
