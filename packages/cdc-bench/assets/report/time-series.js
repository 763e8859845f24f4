/* Zoom in time series, by uPlot: the chart that stands in the page already is what is printed. */
(() => {
  const height = 280;
  const dashes = [[], [7, 3], [2, 3], [9, 3, 2, 3], [], [5, 5], [12, 4], [1, 4]];
  const decimal = [
    [1e9, "G"],
    [1e6, "M"],
    [1e3, "k"],
    [1, ""],
  ];
  const scales = {
    ns: [
      [1e9, " s"],
      [1e6, " ms"],
      [1e3, " µs"],
      [1, " ns"],
    ],
    ms: [
      [1e3, " s"],
      [1, " ms"],
      [1e-3, " µs"],
    ],
    s: [
      [1, " s"],
      [1e-3, " ms"],
    ],
    bytes: [
      [1e9, " GB"],
      [1e6, " MB"],
      [1e3, " kB"],
      [1, " B"],
    ],
    percent: [[1, "%"]],
  };

  const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  /** An amount with the unit that its axis has. */
  function amountText(value, unit) {
    if (value === null || value === undefined) return "-";
    if (value === 0) return "0";
    const known = scales[unit] ?? decimal;
    const [size, name] = known.find(([each]) => Math.abs(value) >= each) ?? known[known.length - 1];
    return `${Number((value / size).toPrecision(4))}${name}`;
  }

  function axis({ title, unit }, size) {
    return {
      label: title,
      stroke: color("--muted"),
      grid: { stroke: color("--line"), width: 1 },
      ticks: { stroke: color("--line"), width: 1 },
      size,
      values: (_plot, values) => values.map((value) => amountText(value, unit)),
    };
  }

  function optionsOf({ x, y, curves }, width) {
    const isLog = y.scale === "log";
    return {
      width,
      height,
      scales: { x: { time: false }, y: isLog ? { distr: 3 } : { range: { min: { soft: 0, mode: 1 }, max: { pad: 0.1 } } } },
      axes: [axis(x, 44), axis(y, 72)],
      series: [
        { label: x.title, value: (_plot, value) => amountText(value, x.unit) },
        ...curves.map(({ label }, i) => ({
          label,
          stroke: color(`--series-${i % dashes.length}`),
          width: 2,
          dash: dashes[i % dashes.length],
          spanGaps: true,
          value: (_plot, value) => amountText(value, y.unit),
        })),
      ],
    };
  }

  /** What the mouse does by dragging, for the keyboard. Each view stays inside of what was measured. */
  function zoomKeys(plotOf, first, last) {
    const show = (change) => {
      const { min, max } = plotOf().scales.x;
      const [from, to] = change(min, max, (max - min) / 4);
      plotOf().setScale("x", { min: Math.max(first, from), max: Math.min(last, to) });
    };
    const keys = {
      "Zoom in": (min, max, quarter) => [min + quarter, max - quarter],
      "Zoom out": (min, max, quarter) => [min - 2 * quarter, max + 2 * quarter],
      Earlier: (min, max, quarter) => (min - quarter < first ? [first, first + max - min] : [min - quarter, max - quarter]),
      Later: (min, max, quarter) => (max + quarter > last ? [last - (max - min), last] : [min + quarter, max + quarter]),
      All: () => [first, last],
    };
    const bar = document.createElement("div");
    bar.className = "zoom-keys live";
    bar.setAttribute("role", "group");
    bar.setAttribute("aria-label", "Zoom; dragging over the chart zooms, too");
    for (const [name, change] of Object.entries(keys)) {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = name;
      button.addEventListener("click", () => show(change));
      bar.append(button);
    }
    return bar;
  }

  function bringToLife(chart) {
    const { id, times, curves } = chart;
    const figure = document.getElementById(id);
    const room = document.createElement("div");
    room.className = "live";
    figure.insertBefore(room, figure.querySelector(".static"));
    figure.classList.add("is-live");
    const data = [times, ...curves.map(({ values }) => values)];
    let plot;
    const draw = () => {
      plot?.destroy();
      plot = new uPlot(optionsOf(chart, room.clientWidth || 720), data, room);
    };
    draw();
    room.after(zoomKeys(() => plot, times[0], times[times.length - 1]));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
    addEventListener("resize", () => plot.setSize({ width: room.clientWidth || 720, height }));
  }

  for (const chart of JSON.parse(document.getElementById("time-series").textContent)) {
    bringToLife(chart);
  }
})();
