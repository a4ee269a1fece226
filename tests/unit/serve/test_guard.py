"""Who may look: names, tokens, methods, and what every answer says to browsers."""

from pathlib import Path
from urllib.parse import quote, urlencode

import pytest

from analysis_support import make_campaign, write_archive
from flowsweep.errors import ServeError
from flowsweep.serve.guard import cookie_of, is_loopback
from flowsweep.serve.server import Address, listening_socket, read_address, read_token
from serve_support import served

pytestmark = pytest.mark.whole

TOKEN = "correct-horse-battery"
EVERY_ADDRESS = ("/", "/path?sweep=windows&src=a&dst=b", "/api/overview",
                 "/api/series?sweep=windows&src=a&dst=b",
                 "/events", "/metrics", "/report", "/trial/0/0123456789ab")  # fmt: skip


@pytest.fixture(scope="module")
def archive(tmp_path_factory) -> Path:
    return write_archive(tmp_path_factory.mktemp("guard") / "archive", make_campaign(flows=(1,)))


@pytest.fixture(scope="module")
def open_page(archive):
    with served(archive) as found:
        yield found


@pytest.fixture(scope="module")
def closed_page(archive):
    with served(archive, token=TOKEN, names=["mesh.example"]) as found:
        yield found


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:80",
        "127.0.0.1.evil.example",
        "",
        "[",
        "10.0.0.1.nip.example",
        "ex\xe4mple",
    ],
)
def test_requests_under_other_names_are_refused(open_page, host):
    answer, text = open_page.ask("/api/overview", host=host)
    assert answer.status in (400, 421)
    assert "campaign" not in text


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1:1", "[::1]:8", "LOCALHOST:99", "10.0.0.1:8420"])
def test_names_that_nobody_else_can_have_are_known(open_page, host):
    assert open_page.ask("/api/overview", host=host)[0].status == 200


def test_a_name_that_was_agreed_on_is_known(closed_page):
    headers = {"host": "Mesh.Example", "authorization": f"Bearer {TOKEN}"}
    assert closed_page.ask("/api/overview", **headers)[0].status == 200


@pytest.mark.parametrize("address", EVERY_ADDRESS)
def test_nothing_of_a_campaign_is_told_without_the_token(closed_page, address):
    for shown in ("", "Bearer wrong", f"Basic {TOKEN}", f"Bearer {TOKEN}x", f"Bearer {TOKEN[:-1]}"):
        answer, text = closed_page.ask(address, authorization=shown)
        assert answer.status == 401
        assert "token is needed" in text


def test_health_and_styles_need_no_token(closed_page):
    assert closed_page.ask("/health")[0].status in (200, 503)
    assert closed_page.ask("/static/page.css")[0].status == 200


def test_a_browser_is_asked_for_the_token_and_keeps_something_else(closed_page):
    answer, _ = closed_page.ask("/path?sweep=x&src=a", accept="text/html")
    assert (answer.status, answer.headers["location"]) == (303, "/login?to=%2Fpath%3Fsweep%3Dx%26src%3Da")
    form = {"content_type": "application/x-www-form-urlencoded"}
    wrong, text = closed_page.ask("/login", method="POST", body="token=wrong", **form)
    assert wrong.status == 403
    assert "not the token" in text
    assert "set-cookie" not in wrong.headers
    right, _ = closed_page.ask("/login?to=/path", method="POST", body=f"token={TOKEN}", **form)
    assert (right.status, right.headers["location"]) == (303, "/path")
    cookie = right.headers["set-cookie"]
    assert TOKEN not in cookie
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert closed_page.ask("/api/overview", cookie=cookie.partition(";")[0])[0].status == 200
    assert (
        closed_page.ask("/api/overview", cookie="flowsweep_token=" + cookie_of("another token"))[0].status
        == 401
    )


@pytest.mark.parametrize(
    "to", ["//evil.example", "https://evil.example", "/\\evil.example", "/ok\r\nx: y", ""]
)
def test_the_way_on_leads_nowhere_else(closed_page, to):
    answer, _ = closed_page.ask(f"/login?{urlencode({'to': to})}", method="POST", body=f"token={TOKEN}")
    assert (answer.status, answer.headers["location"]) == (303, "/")


@pytest.mark.parametrize("address", ["/trial/0/0123456789ab", "/trial/0/0123456789ab?x=1"])
def test_a_link_to_a_trial_opens_it_after_the_token(closed_page, address):
    asked, _ = closed_page.ask(address, accept="text/html")
    assert (asked.status, asked.headers["location"].partition("?")[0]) == (303, "/login")
    answer, _ = closed_page.ask(asked.headers["location"], method="POST", body=f"token={TOKEN}")
    assert (answer.status, answer.headers["location"]) == (303, f"{address}#trial-0123456789ab")


@pytest.mark.parametrize("address", ["/trial/0/0123", "/trial/0/0123456789ab/x", "/?y=/trial/0/0123456789ab"])
def test_no_other_address_is_changed_by_the_token(closed_page, address):
    answer, _ = closed_page.ask(f"/login?{urlencode({'to': address})}", method="POST", body=f"token={TOKEN}")
    assert (answer.status, answer.headers["location"]) == (303, address)


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
def test_a_page_only_shows(open_page, method):
    answer, _ = open_page.ask("/api/overview", method=method)
    assert answer.status == 405


@pytest.mark.parametrize("address", ["/", "/api/overview", "/nothing", "/static/page.css", "/metrics"])
def test_every_answer_has_a_policy(open_page, address):
    answer, _ = open_page.ask(address)
    policy = answer.headers["content-security-policy"]
    assert "script-src 'self';" in policy
    assert "frame-ancestors 'none'" in policy
    assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    "address",
    ["/../etc/passwd", "/static/..%2f..%2fapp.py", "/static/server.py", "/trial/0/..",
     "/trial/9/0123456789ab",
     "/trial/0/0123456789abc", "/trial/-1/0123456789ab"],
)  # fmt: skip
def test_there_is_nothing_else(open_page, address):
    assert open_page.ask(address)[0].status == 404


WRONG = (
    "", "sweep=windows&src=a&dst=c", "sweep=windows&src=a&dst=b&from=x",
    "sweep=windows&src=a&dst=b&from=nan",
    "sweep=windows&src=a&dst=b&from=9&to=8",
    "sweep=windows&src=a&dst=b&campaign=1", "sweep=windows&src=a&dst=b&campaign=-1", "campaign=²",
    "sweep=windows&src=a&dst=b&to=1e400", "sweep=%3Cscript%3E&src=a&dst=b",
)  # fmt: skip


@pytest.mark.parametrize("query", WRONG[1:])
def test_what_is_asked_wrongly_is_refused_in_words(open_page, query):
    answer, text = open_page.ask(f"/report?{quote(query, safe='=&%')}")
    assert answer.status == 422
    assert "cannot be shown" in text
    assert "<script>" not in text.replace('<script src="/static', "")


@pytest.mark.parametrize("query", [*WRONG, "sweep=windows&src=a&dst=b&show=secret"])
def test_what_a_page_asks_wrongly_is_refused_with_the_reason_alone(open_page, query):
    """Which a browser takes for text, and the page shows as such."""
    answer, text = open_page.ask(f"/api/series?{quote(query, safe='=&%')}")
    assert answer.status == 422
    assert answer.headers["content-type"].startswith("text/plain")
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert ("expected" in text) or ("has no sweep" in text)


def test_addresses():
    assert read_address("[::1]:80") == Address("::1", 80)
    assert str(read_address("[::1]:80")) == "[::1]:80"
    for wrong in ("", "80", "host:", ":80", "host:66000", "host:-1", "host:²"):
        with pytest.raises(ServeError, match="--address"):
            read_address(wrong)
    assert [is_loopback(host) for host in ("127.8.0.1", "::1", "localhost", "0.0.0.0", "example.org")] == [
        True, True, True, False, False,
    ]  # fmt: skip


def test_others_are_let_in_with_a_token_only():
    with pytest.raises(ServeError, match="--token-file"):
        listening_socket(Address("0.0.0.0", 0), None)
    listening_socket(Address("0.0.0.0", 0), TOKEN).close()
    with pytest.raises(ServeError, match="cannot listen"):
        listening_socket(Address("192.0.2.1", 80), TOKEN)


@pytest.mark.parametrize("content", ["", "short", "a b c d e f g h i j k l m n o p", "x" * 5000, "ä" * 20])
def test_a_token_is_one_long_word(tmp_path, content):
    (tmp_path / "token").write_text(content, encoding="utf-8")
    with pytest.raises(ServeError, match="--token-file"):
        read_token(tmp_path / "token")
    (tmp_path / "token").write_text(f" {TOKEN}\n", encoding="utf-8")
    assert read_token(tmp_path / "token") == TOKEN


@pytest.mark.parametrize(("told", "secure"), [("https", True), ("HTTPS, http", True), ("http", False)])
def test_behind_a_proxy_with_tls_the_cookie_goes_by_tls_only(closed_page, told, secure):
    answer, _ = closed_page.ask("/login", method="POST", body=f"token={TOKEN}", **{"X-Forwarded-Proto": told})
    assert ("Secure" in answer.headers["set-cookie"]) is secure
