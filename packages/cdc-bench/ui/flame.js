/** The flame graph of a run. */
import { getText } from "./api.js";
import { element } from "./dom.js";

/**
 * Shows the graph in a place: a click, or Enter, on a frame zooms into it; the first frame zooms out again.
 * @param {string} id of the run
 * @param {HTMLElement} place
 */
export async function showFlame(id, place) {
  const parsed = new DOMParser().parseFromString(await getText(`/api/kept/${id}?as=svg`), "image/svg+xml");
  const svg = document.importNode(parsed.documentElement, true);
  const name = element("p", { class: "status", role: "status" });
  const box = element("div", { class: "scroll flame-box", tabindex: 0, role: "region", "aria-label": "Flame graph" });
  box.append(svg);
  place.replaceChildren(element("h4", {}, "Flame graph"), name, box);
  makeZoomable(svg, name);
}

/**
 * @param {Element} svg
 * @param {HTMLElement} name
 */
function makeZoomable(svg, name) {
  const group = svg.querySelector(".frames");
  const left = Number(group?.getAttribute("data-left"));
  const width = Number(group?.getAttribute("data-width"));
  const frames = [...svg.querySelectorAll(".frame")];
  const zoom = (/** @type {Element} */ target) => {
    const start = Number(target.getAttribute("data-start"));
    const share = Number(target.getAttribute("data-share"));
    name.textContent = target.querySelector("title")?.textContent ?? "";
    for (const frame of frames) {
      const from = (Number(frame.getAttribute("data-start")) - start) / share;
      const to = from + Number(frame.getAttribute("data-share")) / share;
      const [x, end] = [Math.max(0, from), Math.min(1, to)];
      frame.setAttribute("visibility", end > x ? "visible" : "hidden");
      if (end > x) {
        place(frame, left + x * width, (end - x) * width);
      }
    }
  };
  for (const frame of frames) {
    frame.addEventListener("click", () => zoom(frame));
  }
  // By keyboard: the frames that are wide enough to be seen.
  for (const frame of frames.filter((one) => Number(one.getAttribute("data-share")) > 0.02)) {
    frame.setAttribute("tabindex", "0");
    frame.setAttribute("role", "button");
    frame.addEventListener("keydown", (event) => {
      const { key } = /** @type {KeyboardEvent} */ (event);
      if (key === "Enter" || key === " ") {
        event.preventDefault();
        zoom(frame);
      }
    });
  }
}

/**
 * @param {Element} frame
 * @param {number} x
 * @param {number} width
 */
function place(frame, x, width) {
  frame.querySelector("rect")?.setAttribute("x", x.toFixed(2));
  frame.querySelector("rect")?.setAttribute("width", width.toFixed(2));
  const text = frame.querySelector("text");
  const name = frame.getAttribute("data-name") ?? "";
  const room = Math.floor((width - 6) / 6.05);
  if (text !== null) {
    text.setAttribute("x", (x + 3).toFixed(2));
    text.textContent = name.length <= room ? name : room < 3 ? "" : `${name.slice(0, room - 2)}..`;
  }
}
