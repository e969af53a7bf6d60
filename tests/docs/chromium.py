"""A browser without a window: Chromium's DevTools protocol over a pipe, by the standard library alone."""

import base64
import json
import os
import re
import select
import shutil
import subprocess
import tempfile
import time

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")

# The texts of a page that stand out too little from what is behind them.
PALE = """(() => {
  const channels = colour => {
    const found = colour.match(/[\\d.]+/g).map(Number);
    return found.length < 4 ? [...found, 1] : found;
  };
  const over = (front, back) => back.map((value, i) => front[i] * front[3] + value * (1 - front[3]));
  const ground = element => {
    const back = element.parentElement ? ground(element.parentElement) : [255, 255, 255];
    return over(channels(getComputedStyle(element).backgroundColor), back);
  };
  const luminance = colour => colour.map(value => value / 255)
    .map(share => share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4)
    .reduce((sum, share, i) => sum + share * [0.2126, 0.7152, 0.0722][i], 0);
  document.querySelectorAll('details').forEach(details => { details.open = true; });
  const pale = [], texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const text = texts.currentNode.data.trim(), element = texts.currentNode.parentElement;
    if (!text || element.closest('script, style, svg') || !element.checkVisibility({visibilityProperty: true}))
      continue;
    const back = ground(element), front = over(channels(getComputedStyle(element).color), back);
    const [darker, lighter] = [luminance(back), luminance(front)].sort((a, b) => a - b);
    const ratio = (lighter + 0.05) / (darker + 0.05);
    if (ratio < 4.5) pale.push(`${text.slice(0, 40)}: ${front} on ${back}, ${ratio.toFixed(2)}`);
  }
  return pale;
})()"""


def find():
    """The command of a Chromium, or None."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Browser:
    """One page of a browser that reads files and asks no network."""

    def __init__(self, command):
        self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        from_us, self.to_browser = os.pipe()
        self.from_browser, to_us = os.pipe()

        def take_pipes():  # Chromium reads from 3 and writes to 4
            read, write = os.dup(from_us), os.dup(to_us)
            os.dup2(read, 3)
            os.dup2(write, 4)

        self.process = subprocess.Popen(
            [command, "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
             "--remote-debugging-pipe", "--host-resolver-rules=MAP * ~NOTFOUND",
             f"--user-data-dir={self.profile.name}", "about:blank"],
            preexec_fn=take_pipes, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(from_us)
        os.close(to_us)
        self.unread, self.count, self.session, self.context = b"", 0, None, None
        self.start_over()

    def start_over(self):
        """A page that knows nothing of those before it, as that of a browser just started: which takes seconds."""
        self.session = None
        if self.context:
            self.call("Target.disposeBrowserContext", browserContextId=self.context)
        self.context = self.call("Target.createBrowserContext")["browserContextId"]
        self.requests, self.errors = [], []  # what pages asked for, and what their scripts ended with
        target = self.call("Target.createTarget", url="about:blank", browserContextId=self.context)["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Network", "Runtime"):
            self.call(domain + ".enable")

    def close(self):
        self.process.terminate()
        self.process.wait()
        self.profile.cleanup()

    def message(self, seconds=30):
        while b"\0" not in self.unread:
            if not select.select([self.from_browser], [], [], seconds)[0]:
                raise TimeoutError("Chromium does not answer")
            read = os.read(self.from_browser, 1 << 20)
            if not read:
                raise EOFError("Chromium ended")
            self.unread += read
        text, _, self.unread = self.unread.partition(b"\0")
        message = json.loads(text)
        if message.get("method") == "Network.requestWillBeSent":
            self.requests.append(message["params"]["request"]["url"])
        elif message.get("method") == "Runtime.exceptionThrown":
            self.errors.append(message["params"]["exceptionDetails"]["text"])
        return message

    def call(self, method, **parameters):
        self.count += 1
        call = {"id": self.count, "method": method, "params": parameters}
        if self.session:
            call["sessionId"] = self.session
        os.write(self.to_browser, json.dumps(call).encode() + b"\0")
        while True:
            message = self.message()
            if message.get("id") == self.count:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']['message']}")
                return message["result"]

    def resize(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
                  mobile=width < 600)

    def prefer(self, scheme, motion="no-preference"):
        """What the system asks for: the colours, light or dark, and how much may move, no-preference or reduce."""
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme},
                                                          {"name": "prefers-reduced-motion", "value": motion}])

    def open(self, address):
        self.call("Page.navigate", url=address)
        self.value_of("new Promise(done => document.readyState == 'complete' ? done() : addEventListener('load', done))")

    def value_of(self, expression, frame=0):
        """What is so in the page, or in its first frame, 1, of which no variables are seen."""
        where = {}
        if frame:
            frames = self.call("Page.getFrameTree")["frameTree"]["childFrames"]
            world = self.call("Page.createIsolatedWorld", frameId=frames[frame - 1]["frame"]["id"])
            where["contextId"] = world["executionContextId"]
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True, **where)
        return result["result"].get("value")

    def wait_for(self, condition, seconds=20, frame=0):
        end = time.monotonic() + seconds

        def is_so():
            try:
                return self.value_of(condition, frame)
            except RuntimeError:
                if frame:  # which may go to its page in between
                    return False
                raise

        while not is_so():
            if time.monotonic() > end:
                raise TimeoutError(f"never came true: {condition}")
            time.sleep(0.02)

    def picture(self, selector=None):
        """What is to be seen, or all of the first element that a selector finds, as a PNG file."""
        part = {}
        if selector:
            box = self.value_of(f"(({{x, y, width, height}}) => ({{x: x + scrollX, y: y + scrollY, width, height}}))"
                                f"(document.querySelector({json.dumps(selector)}).getBoundingClientRect())")
            part = {"clip": {**box, "scale": 1}, "captureBeyondViewport": True}
        return base64.b64decode(self.call("Page.captureScreenshot", format="png", **part)["data"])


PHONE, DESK = (390, 844), (1366, 900)


class QuietPages:
    """Before the other base of tests in Chromium: no page of theirs has an error or asks the network."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.browser = Browser(find())
        cls.addClassCleanup(cls.browser.close)

    def setUp(self):
        self.browser.resize(*DESK)
        self.browser.prefer("light")

    def tearDown(self):
        self.assertEqual([], self.browser.errors)
        self.assertEqual([], [url for url in self.browser.requests if not re.match("file:|data:|about:", url)])

    def value_of(self, expression):
        return self.browser.value_of(expression)
