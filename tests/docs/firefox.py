"""A Firefox without a window, as chromium.py has Chromium: by its Marionette protocol, with the standard library alone."""

import json
import os
import pathlib
import shutil
import socket
import subprocess
import tempfile
import time

NAMES = ("firefox-esr", "firefox")
# Marionette listens on a port that is free, and says which; no page may ask a network.
PREFERENCES = {"marionette.port": 0, "network.proxy.type": 1, "network.proxy.http": "127.0.0.1", "network.proxy.http_port": 9,
               "network.proxy.ssl": "127.0.0.1", "network.proxy.ssl_port": 9, "app.update.disabledForTesting": True,
               "datareporting.policy.dataSubmissionEnabled": False, "browser.shell.checkDefaultBrowser": False}


def find():
    """The command of a Firefox, or None."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Browser:
    def __init__(self, command):
        self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        folder = pathlib.Path(self.profile.name)
        (folder / "user.js").write_text("".join(f"user_pref({json.dumps(name)}, {json.dumps(value)});\n"
                                                for name, value in PREFERENCES.items()))
        self.process = subprocess.Popen([command, "--headless", "--marionette", "--no-remote", "--profile", folder],
                                        env={**os.environ, "HOME": str(folder)}, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL)
        self.count, self.unread = 0, b""
        self.socket = self.connect(folder / "MarionetteActivePort")
        self.message()  # which says who it is
        self.call("WebDriver:NewSession")

    def connect(self, port_file):
        end = time.monotonic() + 60
        while time.monotonic() < end and self.process.poll() is None:
            try:
                return socket.create_connection(("127.0.0.1", int(port_file.read_text())), timeout=60)
            except (OSError, ValueError):
                time.sleep(0.1)
        raise TimeoutError("Firefox does not answer")

    def close(self):
        self.socket.close()
        self.process.terminate()
        self.process.wait()
        self.profile.cleanup()

    def read(self):
        read = self.socket.recv(1 << 20)
        if not read:
            raise EOFError("Firefox ended")
        self.unread += read

    def message(self):
        """`LENGTH:JSON`"""
        while b":" not in self.unread:
            self.read()
        length, _, self.unread = self.unread.partition(b":")
        while len(self.unread) < int(length):
            self.read()
        text, self.unread = self.unread[:int(length)], self.unread[int(length):]
        return json.loads(text)

    def call(self, name, **parameters):
        self.count += 1
        text = json.dumps([0, self.count, name, parameters]).encode()
        self.socket.sendall(b"%d:%s" % (len(text), text))
        _, _, error, result = self.message()
        if error:
            raise RuntimeError(f"{name}: {error['message']}")
        return result

    def open(self, address, width=None):
        """A page, or it in a frame that is as narrow as a window cannot be."""
        self.call("WebDriver:SwitchToFrame", id=None)
        if width:
            frame = pathlib.Path(self.profile.name) / "frame.html"
            frame.write_text(f'<iframe style="width: {width}px; height: 844px; border: 0" src="{address}"></iframe>')
            self.call("WebDriver:Navigate", url=frame.as_uri())
            self.call("WebDriver:SwitchToFrame", id=0)
        else:
            self.call("WebDriver:Navigate", url=address)

    def value_of(self, expression):
        return self.call("WebDriver:ExecuteScript", script="return window.eval(arguments[0]);",
                         args=[expression])["value"]

    def wait_for(self, condition, seconds=20):
        end = time.monotonic() + seconds
        while not self.value_of(condition):
            if time.monotonic() > end:
                raise TimeoutError(f"never came true: {condition}")
            time.sleep(0.05)
