"""The page with fifty clients at once, strangers among them, and a worker killed in the middle.

Whoever holds the cookie sees the same tables, that is how the page is made: so the clients with one
all work at once, each with a table of its own, and each must get back a release of that table and
no other. Strangers have no cookie or a wrong one, and try a key of a form: they must get nothing.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import select
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pandas as pd

from soaking.checker import Promise, check
from soaking.trials import SHOAL, Fault

CLIENTS, STRANGERS = 40, 10
PATIENCE = 240.0  # for the first release after the kill: kernels may have to be compiled
MARK = "zqx"  # begins every text of every table, and nothing else that the page holds
KILLED = "questions to the page that a kill ended, and it said so"
PROMISE = Promise("generalized", ("age", "city"), "ill", "tag", "id", k=3)
ROLES = {"id": "identifier", "age": "quasi", "city": "quasi", "ill": "sensitive", "tag": "keep"}


class Enough(Exception):
    """The time is over, and a release was taken since the kill: what is still begun may end."""


@dataclass
class Page:
    """A running page, and what all clients of it have to know."""

    base: str
    key: str
    cookies: dict[str, str]
    process: subprocess.Popen[str]
    end: float
    killed: threading.Event = field(default_factory=threading.Event)
    worked: threading.Event = field(default_factory=threading.Event)
    faults: list[str] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def origin(self) -> str:
        """The address without the secret path."""
        return f"{httpx.URL(self.base).scheme}://{httpx.URL(self.base).netloc.decode()}"

    def count(self, what: str) -> None:
        """Count something, from any thread."""
        with self.lock:
            self.counts[what] += 1

    def check_time(self) -> None:
        """Stop a client when the time is over, but not before the page worked after the kill.

        Runs wait for each other, forty of them for minutes on a busy machine: to wait for all would
        be a matter of the machine, and to call it a fault of the page would be wrong.
        """
        late = time.monotonic() - self.end
        if late > PATIENCE:
            raise Fault(f"no release within {PATIENCE:.0f} seconds after the time was over")
        if late > 0 and self.worked.is_set():
            raise Enough


def soak(seed: int, seconds: float, counts: Counter[str]) -> None:
    """Let everybody work for so many seconds, and until a release came after the kill."""
    with tempfile.TemporaryDirectory(prefix="soak-page-") as folder, _served(folder) as page:
        page.end = time.monotonic() + seconds
        jobs: list[tuple[Callable[..., None], int]] = [(_work, i) for i in range(CLIENTS)]
        jobs += [(_pry, i) for i in range(STRANGERS)]
        threads = [
            threading.Thread(target=_guarded, args=(page, job, seed + i, i, Path(folder)))
            for job, i in jobs
        ]
        for thread in threads:
            thread.start()
        time.sleep(seconds / 2)
        for pid in _children(page.process.pid):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
                page.count("workers of the page killed")
        page.killed.set()
        for thread in threads:
            thread.join(PATIENCE + seconds)
        if any(thread.is_alive() for thread in threads):
            page.faults.append("a client waits for ever")
        if page.process.poll() is not None:
            page.faults.append(f"the page ended with {page.process.returncode}")
    counts.update(page.counts)
    if page.faults:
        again = f"python tools/soak.py --only page --seed {seed}"
        raise Fault(f"the page: {page.faults[:3]}\nRepeat it: {again}")


def _guarded(page: Page, job: Callable[..., None], seed: int, number: int, folder: Path) -> None:
    try:
        job(page, np.random.default_rng([seed, number]), number, folder)
    except Enough:
        page.count("tables of the page still at work at the end")
    except Exception as fault:
        page.faults.append(f"client {number}: {fault!r}")


def _work(page: Page, rng: np.random.Generator, number: int, folder: Path) -> None:
    """Upload a table, decide, run, take the release away and check it; again and again."""
    origin = {"origin": page.origin, "accept": "application/json"}
    with httpx.Client(
        base_url=page.base, cookies=page.cookies, headers=origin, timeout=PATIENCE
    ) as client:
        while True:
            page.check_time()
            table = _table(rng)
            place = _opened(client, page, table, number)
            page.count("tables uploaded to the page")
            release = folder / f"{number}.csv"
            release.write_bytes(_released(client, page, place))
            wrong = check(table, release, PROMISE)
            if wrong:
                raise Fault(f"a wrong release: {wrong[:3]}")
            page.count("releases taken from the page")
            _post(client, page, f"{place}/close")


def _opened(client: httpx.Client, page: Page, table: pd.DataFrame, number: int) -> str:
    files = {"table": (f"{MARK}{number}.csv", table.to_csv(index=False).encode())}
    answer = _post(client, page, "/open", files=files)
    place = httpx.URL(answer.headers.get("location", answer.url.path)).path
    place = place.removeprefix(httpx.URL(page.base).path).removesuffix("/see")
    _until(client, page, f"{place}/see", lambda seen: "profile" in seen)
    return place


def _released(client: httpx.Client, page: Page, place: str) -> bytes:
    """Order runs until one is done; only one that a kill ended may fail."""

    def ended(seen: dict[str, Any]) -> bool:
        nonlocal later
        busy = seen["told"]["status"] in ("running", "waiting")
        later = later or (busy and page.killed.is_set())
        return not busy

    later = False
    form = _decisions(client.get(f"{place}/decide").json())
    _post(client, page, f"{place}/decide", do="run", **form)
    while True:
        number = max(run["number"] for run in client.get(f"{place}/runs").json()["runs"])
        told = _until(client, page, f"{place}/runs/{number}", ended)["told"]
        if told["status"] == "done":
            answer = client.get(f"{place}/runs/{number}/files/release.csv")
            answer.raise_for_status()
            if later:
                page.worked.set()
            return answer.content
        if "SIGKILL" not in (told["error"] or ""):
            raise Fault(f"a run ended as {told['status']}: {told['error']}")
        page.count("runs of the page that a kill ended, and said so")
        _post(client, page, f"{place}/runs")


def _decisions(seen: dict[str, Any]) -> dict[str, str]:
    form = {"method": "mondrian", "method-was": "mondrian"}
    for row in seen["rows"]:
        form[f"role.{row['number']}"] = ROLES[row["name"]]
    return form | {"rule.0.name": "k-anonymity", "rule.0.k": "3"}


def _pry(page: Page, rng: np.random.Generator, number: int, folder: Path) -> None:
    """Ask for what others have, without a cookie, or with a wrong one."""
    kinds: list[dict[str, str]] = [{}, {next(iter(page.cookies)): "x" * 43}]
    cookies = kinds[number % len(kinds)]
    places = ["/", "/open", "/open.json", "/tables/1/see", "/tables/1/see.json", "/tables/2/decide"]
    places += ["/tables/1/runs/1/files/release.csv", "/tables/3/runs.json", "/static/nothing"]
    places += [f"/?token={page.key}", "/tables/1/runs/1/files/everything.zip"]
    with httpx.Client(base_url=page.base, cookies=cookies, timeout=PATIENCE) as client:
        while time.monotonic() < page.end:
            path = str(rng.choice(places))
            if rng.random() < 0.2:
                answer = client.post("/open", data={"key": page.key, "demo": "yes"})
            else:
                answer = client.get(path)
            if answer.status_code < 400 or MARK in answer.text or 'name="key"' in answer.text:
                raise Fault(f"a stranger got {answer.status_code} for {path}: {answer.text[:300]}")
            page.count("strangers turned away")
            time.sleep(0.05)


def _post(client: httpx.Client, page: Page, path: str, **fields: Any) -> httpx.Response:
    files = fields.pop("files", None)
    answer = client.post(path, data={"key": page.key, **fields}, files=files)
    if "SIGKILL" in answer.text and answer.status_code == 422:
        page.count(KILLED)
        answer = client.post(path, data={"key": page.key, **fields}, files=files)
    if answer.status_code >= 400:
        raise Fault(f"{path} answered {answer.status_code}: {_reason(answer.text)}")
    return answer


def _reason(text: str) -> str:
    """Return what an answer says beyond the steps that every answer lists."""
    return str({k: v for k, v in json.loads(text).items() if k != "steps"})[:3000]


def _until(
    client: httpx.Client, page: Page, path: str, done: Callable[[dict[str, Any]], bool]
) -> Any:
    while True:
        page.check_time()
        answer = client.get(path)
        if "SIGKILL" in answer.text and answer.status_code == 422:
            page.count(KILLED)
        elif answer.status_code >= 400:
            raise Fault(f"{path} answered {answer.status_code}: {_reason(answer.text)}")
        elif done(answer.json()):
            return answer.json()
        time.sleep(0.1)


def _table(rng: np.random.Generator, rows: int = 60) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "id": [f"{MARK}-ID-{rng.integers(1 << 60):015x}" for _ in range(rows)],
            "age": rng.integers(20, 60, rows),
            "city": rng.choice([f"{MARK}Rome", f"{MARK}Oslo", f"{MARK}Lima"], rows),
            "ill": rng.choice([f"{MARK}flu", f"{MARK}cold"], rows),
            "tag": rng.permutation(rows) + int(rng.integers(1, 1 << 30)) * 100,
        }
    )


def _children(pid: int) -> list[int]:
    """Return the processes that a process has started."""
    paths = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(word) for path in paths for word in path.read_text().split()]


@contextlib.contextmanager
def _served(folder: str) -> Iterator[Page]:
    process = subprocess.Popen(  # noqa: S603 -- our own command
        [SHOAL, "serve", "--no-browser"],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1", "TMPDIR": folder},
    )
    try:
        address = _address(process)
        threading.Thread(target=_drain, args=[process], daemon=True).start()
        base = address.split("/?")[0]
        with httpx.Client(base_url=base, follow_redirects=True, timeout=PATIENCE) as client:
            shown = client.get(address)
            shown = client.get("/") if 'name="key"' not in shown.text else shown
            key = re.search(r'name="key"\s+value="([^"]+)"', shown.text)
            if key is None:
                raise Fault(f"no form on the first page: {shown.status_code} {shown.text[:300]}")
            yield Page(base, key[1], dict(client.cookies), process, 0.0)
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _address(process: subprocess.Popen[str], patience: float = 120.0) -> str:
    assert process.stderr is not None
    heard, end = "", time.monotonic() + patience
    while time.monotonic() < end:
        if select.select([process.stderr], [], [], 0.2)[0]:
            line = process.stderr.readline()
            heard += line
            if seen := re.search(r"http://\S+", line):
                return seen[0]
            if not line:
                break
    raise Fault(f"the page did not start: {heard}")


def _drain(process: subprocess.Popen[str]) -> None:
    """Hear what the page says, so that it never waits for us; errors come through."""
    assert process.stderr is not None
    for line in process.stderr:
        if "Traceback" in line:
            sys.stderr.write(line)
