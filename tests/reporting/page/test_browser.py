"""Pages in a browser: they render, switch, sort, fit a narrow window, and can be read in the dark."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.reporting.page.made_pages import many, one

webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
waiting = pytest.importorskip("selenium.webdriver.support.ui")

_BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
_DRIVER = shutil.which("chromedriver")
pytestmark = pytest.mark.skipif(
    _BROWSER is None or _DRIVER is None, reason="there is no chromium with its chromedriver"
)
_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
# How bright a colour is against another, by the rule of WCAG; a canvas knows any way to write a colour.
_CONTRAST = """
const bright = (color) => {
  const pen = Object.assign(document.createElement('canvas'), {width: 1, height: 1}).getContext('2d');
  pen.fillStyle = color;
  pen.fillRect(0, 0, 1, 1);
  const [r, g, b] = [...pen.getImageData(0, 0, 1, 1).data].map((value) => value / 255)
    .map((value) => value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const behind = (element) => {
  const color = getComputedStyle(element).backgroundColor;
  return color === 'rgba(0, 0, 0, 0)' ? behind(element.parentElement) : color;
};
return [...document.querySelectorAll('h1, h2, p, th, td, small, dd, pre, summary, select')]
  .filter((each) => each.offsetParent && each.textContent.trim())
  .map((each) => {
    const [x, y] = [bright(getComputedStyle(each).color), bright(behind(each))];
    return [(Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05), each.outerHTML.slice(0, 80)];
  })
  .sort((a, b) => a[0] - b[0])[0];
"""


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    options = webdriver.ChromeOptions()
    for flag in (*_FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(flag)
    options.binary_location = _BROWSER
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    service = webdriver.ChromeService(executable_path=_DRIVER)
    driver = webdriver.Chrome(options=options, service=service)
    yield driver
    driver.quit()


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("pages")
    found = {}
    for name, make in {"one": one, "many": many}.items():
        path: Path = folder / f"{name}.html"
        path.write_text(make(folder / name), encoding="utf-8")
        found[name] = path.as_uri()
    return found


def seen(browser: Any, selector: str) -> list[str]:
    """The text of all elements that can be seen."""
    script = (
        "return [...document.querySelectorAll(arguments[0])].filter(e => e.checkVisibility())"
        ".map(e => e.innerText.trim())"
    )
    found: list[str] = browser.execute_script(script, selector)
    return found


def click(browser: Any, selector: str) -> None:
    browser.execute_script("document.querySelector(arguments[0]).click()", selector)


def window(browser: Any, width: int, scheme: str) -> None:
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)


def test_switches_show_another_setting_and_metric(browser: Any, pages: dict[str, str]) -> None:
    browser.get(pages["many"])
    about = "section:first-of-type p.small"
    assert seen(browser, about)[0] == "MRR on test, filtered, in points."
    assert seen(browser, ".map .tile b")[0] == "+3.0*"
    click(browser, "button[value='hits@10']")
    click(browser, "button[value='typed_train']")
    assert seen(browser, about)[0] == "Hits@10 on test, typed_train, in points."
    assert seen(browser, ".map .tile b")[0] == "+6.0*"
    assert "Hits@10, typed, beside the paper's" in seen(browser, "h3")
    assert "MRR, typed, beside the paper's" not in seen(browser, "h3")
    pressed = browser.execute_script(
        "return [...document.querySelectorAll('[aria-pressed=true]')].map(e => e.value)"
    )
    assert pressed == ["typed_train", "hits@10"]
    assert browser.get_log("browser") == []


def test_a_table_is_sorted_by_any_column(browser: Any, pages: dict[str, str]) -> None:
    browser.get(pages["one"])
    names = ".relations tbody td:first-child"
    waiting.WebDriverWait(browser, 10).until(lambda here: seen(here, names))
    assert seen(browser, names) == ["<b>knows</b>", "has", "likes"]
    click(browser, ".relations th:nth-child(2) button")  # The most queries first.
    assert seen(browser, names) == ["has", "<b>knows</b>", "likes"]
    click(browser, ".relations th:nth-child(2) button")
    assert seen(browser, names) == ["likes", "<b>knows</b>", "has"]
    click(browser, ".relations th:nth-child(1) button")  # By name.
    assert seen(browser, names) == ["<b>knows</b>", "has", "likes"]
    sorted_by = browser.execute_script(
        "return [...document.querySelectorAll('.relations [aria-sort]')].map(e => e.ariaSort)"
    )
    assert sorted_by == ["ascending"]


def test_a_link_or_a_choice_shows_its_job(browser: Any, pages: dict[str, str]) -> None:
    browser.get(pages["many"])
    assert "TransE + SHNB, seed 0" in seen(browser, "#one dd")
    click(browser, ".map .tile a[href='#job-2']")
    browser.execute_async_script("setTimeout(arguments[0], 50)")
    assert "ComplEx + SHNB, seed 0" in seen(browser, "#one dd")
    browser.execute_script(
        "const pick = document.querySelector('#pick');pick.value = 1; pick.dispatchEvent(new Event('change'))"
    )
    assert "TransE + Struct, seed 0" in seen(browser, "#one dd")
    assert browser.get_log("browser") == []


def test_a_mark_says_what_it_is(browser: Any, pages: dict[str, str]) -> None:
    browser.get(pages["many"])
    browser.execute_script(
        "document.querySelector('.map .tile a').dispatchEvent(new Event('pointerover', {bubbles: true}))"
    )
    assert seen(browser, "#tip") == ["TransE + SHNB: 33.0, +3.00 points, better than chance"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("page", ["one", "many"])
def test_it_fits_a_narrow_window_and_can_be_read(
    browser: Any, pages: dict[str, str], page: str, scheme: str
) -> None:
    window(browser, 400, scheme)
    browser.get(pages[page])
    width = browser.execute_script("return document.documentElement.scrollWidth")
    assert width <= browser.execute_script("return document.documentElement.clientWidth") <= 400
    contrast, element = browser.execute_script(_CONTRAST)
    assert contrast >= 4.5, element
    ground = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
    assert (ground == "rgb(19, 21, 25)") == (scheme == "dark")
    assert browser.get_log("browser") == []
