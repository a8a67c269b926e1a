"""The command itself: what it prints, what it leaves behind, what it needs."""

from __future__ import annotations

import gzip
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

from shoal.ext.web.serving import serve
from shoal.tables import demo
from tests.ext.web.conftest import address, another, serving
from tests.processes import alive, children

pytestmark = pytest.mark.unwatched

SHOAL = Path(sys.executable).with_name("shoal")


def folders(root: Path) -> list[Path]:
    return list(root.glob("shoal-page-*"))


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_nothing_is_left_behind(tmp_path, monkeypatch, how) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    process = subprocess.Popen(
        [str(SHOAL), "serve", "--no-browser", str(demo.TABLE)], stderr=subprocess.PIPE, text=True
    )
    where = address(process)
    with httpx.Client(base_url=where.split("/?")[0], follow_redirects=True) as client:
        assert client.get(where).status_code == 200
        while client.get("/tables/1/see").status_code == 202:
            time.sleep(0.05)
    (folder,) = folders(tmp_path)
    assert folder.stat().st_mode & 0o777 == 0o700
    workers = children(process.pid)
    assert len(workers) == 2
    os.kill(process.pid, how)
    process.wait(15)
    process.stderr.close()
    end = time.monotonic() + 10
    while any(alive(pid) for pid in workers) and time.monotonic() < end:
        time.sleep(0.05)
    assert not any(alive(pid) for pid in workers)
    if how == signal.SIGKILL:  # nobody could tidy up; the next server does
        assert folders(tmp_path) == [folder]
        with serving():
            assert folder not in folders(tmp_path)
    assert not folders(tmp_path)


@pytest.mark.parametrize(("host", "open_to_all"), [("127.0.0.1", False), ("0.0.0.0", True)])
def test_who_can_reach_the_page_is_said(tmp_path, monkeypatch, host, open_to_all) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.setattr("uvicorn.Server.run", lambda _self, sockets: None)
    said: list[str] = []
    serve(None, host=host, port=0, browser=False, say=said.append)
    assert ("is not encrypted" in " ".join(said)) is open_to_all


def test_the_browser_gets_a_private_file_and_no_key(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setenv("BROWSER", f"{SPY} {tmp_path}/seen %s")
    process = subprocess.Popen(
        [str(SHOAL), "serve"], stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        printed = address(process)
        seen = wait_for(tmp_path / "seen")
        assert seen.startswith("file://")
        assert "token" not in seen
        path = Path(seen.removeprefix("file://").strip())
        assert path.stat().st_mode & 0o777 == 0o600
        assert path.parent.stat().st_mode & 0o777 == 0o700
        (where,) = re.findall(r'href="([^"]+)"', path.read_text())
        assert where != printed
        with httpx.Client() as client:
            assert client.get(where).status_code == 200
        assert not path.exists()
        with httpx.Client() as client:
            assert client.get(where).status_code == 403
            assert client.get(another(process)).status_code == 200
    finally:
        process.terminate()
        process.communicate(timeout=15)


SPY = f"{sys.executable} {Path(__file__).with_name('spy.py')}"


def wait_for(path: Path) -> str:
    end = time.monotonic() + 30
    while time.monotonic() < end:
        if path.exists() and (text := path.read_text()).endswith("\n"):
            return text
        time.sleep(0.05)
    raise AssertionError(f"{path} was never written")


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["nowhere.csv"], "nowhere.csv does not exist or is not a file"),
        (["--host", "192.0.2.1"], "Cannot listen on 192.0.2.1, port 0"),
        (["--port", "70000"], "Invalid value for '--port'"),
    ],
)
def test_what_cannot_be_served_is_refused_in_words(tmp_path, words, text) -> None:
    done = subprocess.run(
        [str(SHOAL), "serve", "--no-browser", *words],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=60,
    )
    assert done.returncode == 2
    assert text in " ".join(done.stderr.replace("│", " ").split())
    assert "Traceback" not in done.stderr


def test_without_the_extra_the_way_to_get_it_is_told() -> None:
    code = (
        "import sys; sys.modules['uvicorn'] = None; sys.argv = ['shoal', 'serve']; "
        "from shoal.cli.main import main; main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert "pip install 'shoal[web]'" in done.stderr


def test_the_page_unpacks_a_quarter_of_what_commands_may(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("SHOAL_MAX_UNPACKED", "40MB")
    (tmp_path / "bomb.csv.gz").write_bytes(gzip.compress(b"a\n" + b"1" * (2 * 10**7)))
    with (
        serving("bomb.csv.gz", cwd=tmp_path) as (where, _),
        httpx.Client(base_url=where.split("/?")[0], follow_redirects=True) as client,
    ):
        client.get(where)
        while (seen := client.get("/tables/1/see")).status_code == 202:
            time.sleep(0.05)
    assert "unpacks to more than 10.0 MB, the most that is allowed" in seen.text
