"""Who gets in: token, cookie, Host, Origin, size; what every answer carries."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest

from shoal.ext.web.app import build
from shoal.ext.web.login_links import LinkResult, LoginLinks
from shoal.ext.web.security import HEADERS, AllowedHosts, Keys
from tests.ext.web.conftest import TestClient

BASE = "http://127.0.0.1:8123"
KEYS = Keys(8123)


def page(folder: Path, **options) -> TestClient:
    return TestClient(
        build(folder, KEYS, AllowedHosts("127.0.0.1", 8123), **options),
        base_url=BASE + KEYS.root,
        raise_server_exceptions=False,
    )


@pytest.fixture(scope="module")
def stranger(tmp_path_factory) -> Iterator[TestClient]:
    """The page, asked by somebody without the key. Nothing here starts a worker's work."""
    with page(tmp_path_factory.mktemp("page"), limit=1 << 20) as client:
        yield client


@pytest.fixture
def client(stranger: TestClient) -> Iterator[TestClient]:
    stranger.get("/", params={"token": KEYS.tickets.issue()})
    yield stranger
    stranger.cookies.clear()


def form(**fields: str) -> dict[str, str]:
    return {"key": KEYS.form, **fields}


def test_a_key_opens_the_page_and_leaves_the_address(stranger) -> None:
    assert stranger.get("/").status_code == 403
    key = KEYS.tickets.issue()
    assert stranger.head("/", params={"token": key}).status_code == 403  # a look uses nothing up
    answer = stranger.get("/", params={"token": key})
    assert answer.status_code == 200
    assert f'<meta http-equiv="refresh" content="0;url={KEYS.root}/">' in answer.text
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert key not in cookie
    assert KEYS.form not in answer.text
    assert stranger.get("/").status_code == 200
    # Whoever is inside may reload the first address.
    assert stranger.get("/", params={"token": key}).status_code == 200
    stranger.cookies.clear()
    assert "it holds a key. Press Enter in the terminal" in unescape(stranger.get("/").text)


def test_a_key_opens_the_page_once(stranger) -> None:
    key = KEYS.tickets.issue()
    assert stranger.get("/", params={"token": key}).status_code == 200
    stranger.cookies.clear()
    answer = stranger.get("/", params={"token": key})
    assert answer.status_code == 403
    assert "set-cookie" not in answer.headers
    assert "This address was used" in answer.text
    assert "If that was not you, stop the server" in answer.text
    assert "Press Enter in the terminal" in answer.text


def test_a_key_opens_the_page_for_a_minute() -> None:
    now = [0.0]
    tickets = LoginLinks(clock=lambda: now[0])
    young, old = tickets.issue(), tickets.issue()
    now[0] = 59.0
    assert tickets.redeem(young) is LinkResult.OPENS
    now[0] = 61.0
    assert tickets.redeem(old) is LinkResult.UNKNOWN


def test_a_wrong_key_opens_nothing(stranger) -> None:
    for wrong in ("", "x", KEYS.tickets.issue()[:-1], KEYS.session, KEYS.form):
        answer = stranger.get("/", params={"token": wrong})
        assert answer.status_code == 403
        assert "set-cookie" not in answer.headers
    assert "not one of the running server, or older than a minute" in answer.text


def test_the_cookie_stays_on_a_secret_path(stranger) -> None:
    answer = stranger.get("/", params={"token": KEYS.tickets.issue()})
    assert f"Path={KEYS.root}/" in answer.headers["set-cookie"]
    # Browsers send a cookie to every port of a host, but under its path alone.
    for name in ("/", "/tables/1/see", f"/{'0' * 32}/", f"{KEYS.root}x/", KEYS.root):
        told = stranger.get(f"http://127.0.0.1:8123{name}")
        assert "cookie" not in told.request.headers
        assert told.status_code == 403
        # And without the path it opens nothing, to somebody who has it all the same.
        head = {"cookie": f"{KEYS.cookie}={KEYS.session}"}
        assert stranger.get(f"http://127.0.0.1:8123{name}", headers=head).status_code == 403
    unused = KEYS.tickets.issue()
    assert stranger.get("http://127.0.0.1:8123/", params={"token": unused}).status_code == 403
    assert KEYS.tickets.redeem(unused) is LinkResult.OPENS
    page = stranger.get("/open")
    assert KEYS.path not in stranger.get("http://127.0.0.1:8123/").text
    shown = stranger.get("/").text
    links = re.findall(r'(?:href|action|src)="(/[^"]*)"', shown)
    assert links
    assert all(link.startswith((f"{KEYS.root}/", "/static/")) for link in links)
    assert page.status_code in (404, 405)
    answer = stranger.post("/theme", data=form(theme="dark", here="/"), headers={"origin": BASE})
    assert answer.history[0].headers["location"] == f"{KEYS.root}/"


def test_a_wrong_cookie_opens_nothing(stranger) -> None:
    for wrong in ("", "x", KEYS.tickets.issue(), KEYS.form):
        head = {"cookie": f"{KEYS.cookie}={wrong}"}
        assert stranger.get("/", headers=head).status_code == 403


def test_the_way_in_never_leads_to_another_host(stranger) -> None:
    for path in ("//evil.example/", "/\\evil.example", '/";url=//evil.example'):
        answer = stranger.get(f"{BASE}{KEYS.root}{path}", params={"token": KEYS.tickets.issue()})
        where = re.findall(r'content="0;url=([^"]*)"', answer.text)
        assert len(where) == 1
        assert re.match(r"/[\w%]", where[0])
        stranger.cookies.clear()


def test_what_needs_no_key_holds_no_key(stranger) -> None:
    asked = [
        stranger.get(f"{BASE}/static/page.css"),
        stranger.get(f"{BASE}/static/none.css"),
        stranger.get(f"{BASE}/static/"),
        stranger.get(f"{BASE}/static/../static/none"),
        stranger.get(f"{BASE}/static/a/b"),
        stranger.post(f"{BASE}/static/page.css", headers={"origin": BASE}),
        stranger.post(f"{BASE}/static/none", content=b"x" * 99, headers={"origin": BASE}),
        stranger.get("/none.json"),
    ]
    assert [answer.status_code for answer in asked] == [200, *[403] * 7]
    for answer in asked:
        assert KEYS.form not in answer.text
        assert KEYS.session not in answer.text


def test_two_origins_are_refused(client) -> None:
    for second in (BASE, "http://evil.example"):
        heads = [("origin", BASE), ("origin", second)]
        assert client.get("/", headers=heads).status_code == 403
        answer = client.post("/theme", data=form(theme="dark"), headers=heads)
        assert answer.status_code == 403
    sites = [("sec-fetch-site", "same-origin"), ("sec-fetch-site", "cross-site")]
    assert client.get("/", headers=sites).status_code == 403


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:8123", "127.0.0.1", "127.0.0.1:80", "127.0.0.1.nip.io:8123", ""],
)
def test_another_host_name_is_refused_even_with_the_cookie(client, host) -> None:
    answer = client.get("/", headers={"host": host})
    assert answer.status_code == 421
    assert client.get(f"{BASE}/static/page.css", headers={"host": host}).status_code == 421


def test_the_machine_itself_may_be_called_by_its_usual_names(client) -> None:
    head = {"cookie": f"{KEYS.cookie}={KEYS.session}"}
    for host in ("localhost:8123", "[::1]:8123", "127.0.0.1:8123"):
        assert client.get("/", headers={**head, "host": host}).status_code == 200


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "https://127.0.0.1:8123", ""])
def test_another_origin_is_refused(client, origin) -> None:
    assert client.get("/", headers={"origin": origin}).status_code == 403
    answer = client.post("/theme", data=form(theme="dark"), headers={"origin": origin})
    assert answer.status_code == 403


def test_a_form_needs_an_origin_and_its_key(client) -> None:
    assert client.post("/theme", data=form(theme="dark")).status_code == 403
    head = {"origin": BASE}
    answer = client.post("/theme", data={"theme": "dark"}, headers=head)
    assert answer.status_code == 403
    assert "out of date" in answer.text
    answer = client.post("/theme", data=form(theme="dark"), headers=head, follow_redirects=False)
    assert answer.status_code == 303
    assert 'data-theme="dark"' in client.get("/").text


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_a_request_that_another_site_made_is_refused(client, site) -> None:
    assert client.get("/", headers={"sec-fetch-site": site}).status_code == 403


def test_other_methods_do_not_exist(client) -> None:
    for method in ("PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"):
        answer = client.request(method, "/", headers={"origin": BASE})
        assert answer.status_code == 405
        assert "access-control-allow-origin" not in answer.headers


def test_every_answer_carries_the_headers(client) -> None:
    for path in ("/", "/nowhere", "/static/page.css", "/tables/7/see", "/open.json"):
        answer = client.get(path)
        for name, value in HEADERS.items():
            assert answer.headers[name] == value, path
        assert "access-control-allow-origin" not in answer.headers
    assert "unsafe" not in HEADERS["content-security-policy"]


@pytest.mark.parametrize(
    "path",
    [
        "/static/../app.py",
        "/static/..%2fapp.py",
        "/static/%2e%2e/%2e%2e/app.py",
        "/static//etc/passwd",
        "/static/%2fetc%2fpasswd",
        "/tables/1/runs/1/files/..%2f..%2fplan.toml",
        "/tables/..%2f..%2fetc/see",
        "/tables/1/columns/-1",
    ],
)
def test_no_path_leads_out(client, path) -> None:
    answer = client.get(path)
    assert answer.status_code == 404
    assert "root:" not in answer.text
    assert "import" not in answer.text


def test_an_upload_above_the_limit_is_refused_before_it_is_read(client) -> None:
    head = {"origin": BASE}
    answer = client.post(
        "/open", data=form(), files={"table": ("big.csv", b"x" * (2 << 20))}, headers=head
    )
    assert answer.status_code == 413
    assert "--max-upload" in answer.text

    def chunks() -> Iterator[bytes]:
        yield b"--x\r\n"
        for _ in range(64):
            yield b"y" * (1 << 16)

    # Without a length it is refused at the byte that is too much.
    kind = {"content-type": "multipart/form-data; boundary=x"}
    answer = client.post("/open", content=chunks(), headers={**head, **kind})
    assert answer.status_code == 413
    assert client.post("/theme", content=b"", headers={**head, "content-length": "-1"})


def test_pages_that_are_not_there_say_so_without_a_traceback(client) -> None:
    answer = client.get("/tables/1/see")
    assert answer.status_code == 404
    assert "Traceback" not in answer.text
    twin = client.get("/tables/1/see", headers={"accept": "application/json"})
    assert twin.json()["error"] == "There is no such page"


def test_what_nobody_foresaw_shows_no_details(client, monkeypatch) -> None:
    def burst(*_: object) -> None:
        raise RuntimeError("secret value 4711")

    monkeypatch.setattr("shoal.ext.web.pages.tables.page", burst)
    answer = client.get("/")
    assert answer.status_code == 500
    assert "was not expected" in answer.text
    assert "4711" not in answer.text
    assert "Error" not in answer.text


def test_nothing_in_the_page_is_inline_or_from_elsewhere(client) -> None:
    text = client.get("/").text
    assert not re.search(r"<script(?![^>]* src=)", text)
    assert not re.search(r"<style|\sstyle=|\son[a-z]+=", text)
    assert not re.search(r"(?:src|href|action)=\"(?!/)", text.replace('href="#main"', ""))


def test_a_server_that_listens_everywhere_answers_to_numbers_not_to_names() -> None:
    doors = AllowedHosts("0.0.0.0", 80)
    assert doors.allows("10.1.2.3")
    assert doors.allows("[fe80::1]:80")
    assert not doors.allows("localhost:²")  # a digit, and no number
    assert doors.allows("localhost:80")
    assert not doors.allows("evil.example")
    assert not doors.allows("evil.example:80")
    assert not AllowedHosts("10.1.2.3", 80).allows("127.0.0.1:80")
    assert AllowedHosts("10.1.2.3", 80).allows("10.1.2.3")


def test_a_digit_that_is_no_number_is_no_port_and_no_length(client) -> None:
    assert client.get("/", headers=[("host", b"127.0.0.1:\xb2")]).status_code == 421
    head = [("origin", BASE.encode()), ("content-length", b"\xb2")]
    assert client.post("/theme", content=b"", headers=head).status_code == 413
