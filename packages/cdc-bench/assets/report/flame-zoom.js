/* Zoom in flame graphs. The graph is one stop of the Tab key; the arrow keys go from call to call. */
(() => {
  const characterWidth = 6.05;
  const epsilon = 1e-6;

  const placeOf = ({ dataset }) => ({ start: Number(dataset.start), share: Number(dataset.share), depth: Number(dataset.depth) });
  const holds = (outer, inner) => outer.start <= inner.start + epsilon && outer.start + outer.share >= inner.start + inner.share - epsilon;
  const shorten = (name, room) => (name.length <= room ? name : room < 3 ? "" : `${name.slice(0, room - 2)}..`);

  /** Gives a frame its place when the graph shows `view` alone, with its callers above. */
  function placeFrame(frame, view, { left, width }) {
    const place = placeOf(frame);
    const isCaller = place.depth < view.depth && holds(place, view);
    frame.style.display = isCaller || (place.depth >= view.depth && holds(view, place)) ? "" : "none";
    const x = isCaller ? left : left + ((place.start - view.start) / view.share) * width;
    const size = isCaller ? width : (place.share / view.share) * width;
    const [rect, text] = [frame.querySelector("rect"), frame.querySelector("text")];
    rect.setAttribute("x", x);
    rect.setAttribute("width", Math.max(0, size));
    rect.setAttribute("opacity", isCaller ? 0.6 : 1);
    text.setAttribute("x", x + 3);
    text.textContent = shorten(frame.dataset.name, Math.floor((size - 6) / characterWidth));
  }

  /** The frame that an arrow key goes to; the same one at an edge; none for any other key. */
  function neighbour(frames, from, key) {
    const shown = frames.filter((frame) => frame.style.display !== "none");
    const here = placeOf(from);
    const inRow = (depth) => shown.filter((frame) => placeOf(frame).depth === depth);
    const row = inRow(here.depth);
    const at = row.indexOf(from);
    const target = {
      ArrowRight: () => row[at + 1],
      ArrowLeft: () => row[at - 1],
      ArrowUp: () => inRow(here.depth - 1).find((frame) => holds(placeOf(frame), here)),
      ArrowDown: () => inRow(here.depth + 1).find((frame) => holds(here, placeOf(frame))),
      Home: () => shown[0],
    }[key];
    return target === undefined ? undefined : (target() ?? from);
  }

  function bringToLife(figure) {
    const frames = [...figure.querySelectorAll(".frame")];
    const first = frames[0];
    const said = figure.querySelector(".flame-line");
    const { left, width } = figure.querySelector(".frames").dataset;
    const room = { left: Number(left), width: Number(width) };

    const zoom = (to) => frames.forEach((frame) => placeFrame(frame, placeOf(to), room));
    const focus = (frame) => {
      for (const each of frames) each.setAttribute("tabindex", each === frame ? "0" : "-1");
      frame.focus();
    };
    const press = (frame, key) => {
      if (key === "Enter" || key === " ") return zoom(frame) ?? true;
      if (key === "Escape") return zoom(first) ?? focus(first) ?? true;
      const target = neighbour(frames, frame, key);
      return target === undefined ? false : (focus(target) ?? true);
    };

    for (const frame of frames) {
      const about = frame.querySelector("title").textContent;
      const tell = () => {
        said.textContent = about;
      };
      frame.setAttribute("role", "button");
      frame.setAttribute("tabindex", frame === first ? "0" : "-1");
      frame.setAttribute("aria-label", about);
      frame.addEventListener("focus", tell);
      frame.addEventListener("mouseenter", tell);
      frame.addEventListener("click", () => {
        zoom(frame);
        focus(frame);
      });
      frame.addEventListener("keydown", (event) => {
        if (press(frame, event.key)) event.preventDefault();
      });
    }
  }

  for (const figure of document.querySelectorAll(".flame-figure")) {
    if (figure.querySelector(".frame") !== null) bringToLife(figure);
  }
})();
