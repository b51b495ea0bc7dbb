"use strict";
(() => {
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const chosen = {};

  // What is of another setting or metric is hidden.
  const show = (root = document) => {
    for (const each of all("[data-setting], [data-metric]", root)) {
      each.hidden = Object.entries(chosen).some(([key, value]) => each.dataset[key] && each.dataset[key] !== value);
    }
  };
  for (const button of all(".switch button")) {
    const key = button.parentElement.dataset.switch;
    if (button.getAttribute("aria-pressed") === "true") chosen[key] = button.value;
    button.addEventListener("click", () => {
      chosen[key] = button.value;
      for (const other of all("button", button.parentElement)) other.setAttribute("aria-pressed", other === button);
      show();
    });
  }

  // A table is sorted by a click on a column's head; numbers by value, the greatest first.
  const valueOf = (row, column) => row.cells[column].dataset.value ?? row.cells[column].textContent.trim();
  document.addEventListener("click", (event) => {
    const head = event.target.closest("th");
    if (!head || !event.target.closest("th button")) return;
    const table = head.closest("table");
    const numeric = head.dataset.sort === "number";
    const was = head.getAttribute("aria-sort");
    const down = was ? was === "ascending" : numeric;
    for (const other of all("th[aria-sort]", table)) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const compare = (a, b) => {
      const [x, y] = [valueOf(a, head.cellIndex), valueOf(b, head.cellIndex)];
      if (!numeric) return x.localeCompare(y, undefined, { numeric: true });
      return (x === "" ? -Infinity : Number(x)) - (y === "" ? -Infinity : Number(y));
    };
    const body = table.tBodies[0];
    const rows = [...body.rows].sort((a, b) => (down ? -1 : 1) * compare(a, b));
    body.append(...rows);
  });

  // One job of many is shown: that which is picked, or followed a link to.
  const pick = document.querySelector("#pick");
  const showJob = (number) => {
    const template = document.querySelector(`#of-${number}`);
    if (!template) return;
    pick.value = number;
    const place = document.querySelector("#one");
    place.replaceChildren(template.content.cloneNode(true));
    show(place);
  };
  const follow = () => {
    const found = /^#job-(\d+)$/.exec(location.hash);
    if (!found) return;
    if (pick) showJob(found[1]);
    document.querySelector("#job").scrollIntoView();
  };
  if (pick) {
    pick.addEventListener("change", () => showJob(pick.value));
    showJob(pick.value);
  }
  window.addEventListener("hashchange", follow);
  follow();

  // What a mark says, beside it, wherever the window ends.
  const tip = document.querySelector("#tip");
  const tell = (event) => {
    const mark = event.target.closest?.("[data-tip]");
    tip.hidden = !mark;
    if (!mark) return;
    tip.textContent = mark.dataset.tip;
    const at = mark.getBoundingClientRect();
    const left = Math.min(at.left + 12, document.documentElement.clientWidth - tip.offsetWidth - 8);
    tip.style.left = `${Math.max(8, left)}px`;
    tip.style.top = `${at.top > 60 ? at.top - tip.offsetHeight - 8 : at.bottom + 8}px`;
  };
  document.addEventListener("pointerover", tell);
  document.addEventListener("focusin", tell);
  show();
})();
