"""A page in a real browser: Chromium, driven over a pipe. No package and no port is needed."""

import base64
import json
import os
import shutil
import subprocess
from contextlib import contextmanager
from pathlib import Path

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
MISSING = "Chromium is not installed (Debian: apt-get install chromium)"


class Page:
    """One tab, and all that it asked for, said and threw."""

    def __init__(self, send, receive):
        self._send, self._receive = send, receive
        self._number = 0
        self._session = None
        self.requests, self.messages = [], []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Network", "Runtime", "Log"):
            self.call(f"{domain}.enable")
        self.call("Network.emulateNetworkConditions", offline=True, latency=0, downloadThroughput=0, uploadThroughput=0)

    def call(self, method, **params):
        self._number += 1
        message = {"id": self._number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        self._send(message)
        while True:
            answer = self._receive()
            self._note(answer)
            if answer.get("id") == self._number:
                assert "error" not in answer, answer
                return answer["result"]

    def _note(self, event):
        params = event.get("params", {})
        if event.get("method") == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])
        elif event.get("method") == "Runtime.exceptionThrown":
            self.messages.append(params["exceptionDetails"]["text"])
        elif event.get("method") == "Log.entryAdded":
            self.messages.append(params["entry"]["text"])
        elif event.get("method") == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning", "assert"):
            self.messages.append(str(params["args"]))

    def resize(self, width):
        """Set the width of the window, and that of a phone if it is narrow."""
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=width < 600
        )

    def open(self, path, width, query=""):
        """Open a file at a width, and wait until it and its pictures are there."""
        self.resize(width)
        self.call("Page.navigate", url=Path(path).resolve().as_uri() + (f"?{query}" if query else ""))
        while self.value("document.readyState") != "complete" or self.value("location.href") == "about:blank":
            pass
        self.value("Promise.all([...document.images].map(i => i.decode())).then(() => true)")

    def value(self, expression):
        found = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def screenshot(self, path):
        """Save all of the page as a PNG."""
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True)["data"]
        Path(path).write_bytes(base64.b64decode(data))


@contextmanager
def browser(profile):
    """Yield a page of a browser of its own."""
    to_browser, ours_out = os.pipe()
    ours_in, from_browser = os.pipe()

    def place_pipes():
        os.dup2(to_browser, 13)
        os.dup2(from_browser, 14)
        os.dup2(13, 3)
        os.dup2(14, 4)

    command = [
        *(CHROMIUM, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"),
        *("--no-first-run", "--disable-background-networking", "--remote-debugging-pipe"),
        *(f"--user-data-dir={profile}", "about:blank"),
    ]
    process = subprocess.Popen(
        command, preexec_fn=place_pipes, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    os.close(to_browser)
    os.close(from_browser)
    with os.fdopen(ours_out, "wb", buffering=0) as out, os.fdopen(ours_in, "rb") as into:

        def send(message):
            out.write(json.dumps(message).encode() + b"\0")

        def receive():
            data = bytearray()
            while (byte := into.read(1)) != b"\0":
                assert byte, "the browser went away"
                data += byte
            return json.loads(data)

        try:
            yield Page(send, receive)
        finally:
            process.terminate()
            process.wait(timeout=20)
