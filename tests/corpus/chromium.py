"""Chromium, driven as a person would: real clicks and keys through WebDriver. Needs the extra `browser`."""

from __future__ import annotations

import importlib.util
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from selenium.webdriver import Chrome


def missing() -> str:
    """What is not installed of what a browser session needs, "" where it all is."""
    programs = [name for name in ("chromium", "chromedriver") if shutil.which(name) is None]
    packages = ["selenium"] if importlib.util.find_spec("selenium") is None else []
    return " and ".join(programs + packages)


@contextmanager
def browser(width: int = 1440, height: int = 900, dark: bool = False) -> Iterator[Chrome]:
    """A headless Chromium of that size in CSS pixels."""
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = str(shutil.which("chromium"))
    options.add_argument("--headless=new")
    if os.geteuid() == 0:
        options.add_argument("--no-sandbox")
    options.add_argument("--disable-dev-shm-usage")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
    try:
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
        driver.implicitly_wait(5)
        yield driver
    finally:
        driver.quit()


def complaints(driver: Chrome) -> list[str]:
    """What the page's console has said since it was last asked: errors, and breaches of its policy."""
    entries = driver.execute("getLog", {"type": "browser"})["value"]  # what the untyped get_log does
    return [str(entry["message"]) for entry in entries]
