/** Results that are kept: what they say, two of them side by side, and files of them. */
import { get, getText, remove } from "./api.js";
import { announce, byId, element, say } from "./dom.js";
import { showFlame } from "./flame.js";
import { endingText } from "./live.js";

/** @typedef {{ id: string, command: string, title: string, startedAt: string, endedAt: string | null, exitCode: number | null, hasFlame: boolean }} KeptRun */

const profileNote = "A CPU profile was recorded during the run, which costs some percent: its figures are no measure for other runs.";

/** @param {{ onProblem: (message: string) => void }} listeners */
export function createResults(listeners) {
  return new Results(listeners);
}

class Results {
  /** @type {readonly KeptRun[]} */
  #kept = [];
  /** The run whose result is shown. */
  #shown = "";
  #onProblem;

  /** @param {{ onProblem: (message: string) => void }} listeners */
  constructor({ onProblem }) {
    this.#onProblem = onProblem;
    byId("compare-form").onsubmit = (event) => {
      event.preventDefault();
      void this.#compare(chosen("before"), chosen("now"));
    };
  }

  /** @param {readonly KeptRun[]} runs */
  list(runs) {
    const [before, now] = [chosen("before"), chosen("now")];
    this.#kept = runs;
    byId("results-none").hidden = runs.length > 0;
    byId("compare-form").hidden = runs.length === 0;
    const rows = runs.map((run) => keptRow(run, before, now, () => void this.show(run.id)));
    byId("kept")
      .querySelector("tbody")
      ?.replaceChildren(...rows);
    if (this.#shown !== "" && !runs.some(({ id }) => id === this.#shown)) {
      byId("result").hidden = true;
      this.#shown = "";
    }
  }

  /** @param {string} id */
  async show(id) {
    try {
      const result = await get(`/api/kept/${id}`);
      this.#shown = id;
      const title = element("h3", { id: "result-title", tabindex: -1 }, `${result.command}, ${timeText(result.startedAt)}`);
      const flame = element("div");
      byId("result").replaceChildren(
        title,
        element("p", {}, element("code", {}, `cdc-bench ${result.title}`)),
        ...(result.isPartial ? [element("p", { class: "problem" }, "Stopped before its end: what is there is not all of it.")] : []),
        ...(result.hasFlame ? [element("p", { class: "about" }, profileNote)] : []),
        this.#filesOf(result),
        ...(result.figures.length > 0 ? [figureTable(result.figures, false)] : []),
        flame,
        ...(result.text === null ? [] : [element("h4", {}, "Report"), element("pre", { class: "scroll", tabindex: 0 }, result.text)]),
      );
      byId("result").hidden = false;
      title.focus();
      if (result.hasFlame) {
        await showFlame(id, flame);
      }
    } catch (error) {
      this.#onProblem(messageOf(error));
    }
  }

  /**
   * @param {string} before
   * @param {string} now
   */
  async #compare(before, now) {
    say(byId("compare-problem"), "");
    if (before === "" || now === "" || before === now) {
      say(byId("compare-problem"), "Choose two different runs of one command: one before, one now.");
      return;
    }
    try {
      const { figures, isPartial } = await get(`/api/compare?before=${before}&now=${now}`);
      const hasFlame = this.#kept.some(({ id, hasFlame: has }) => has && (id === before || id === now));
      const title = element("h3", { id: "comparison-title", tabindex: -1 }, "Comparison");
      const names = [before, now].map((id) => this.#kept.find((run) => run.id === id)?.title ?? "");
      byId("comparison").replaceChildren(
        title,
        element("p", {}, "before: ", element("code", {}, `cdc-bench ${names[0]}`)),
        element("p", {}, "now: ", element("code", {}, `cdc-bench ${names[1]}`)),
        ...(isPartial ? [element("p", { class: "problem" }, "One of the runs was stopped: what is there is not all of it.")] : []),
        ...(hasFlame ? [element("p", { class: "problem" }, profileNote)] : []),
        figureTable(figures, true),
        element(
          "p",
          { class: "help" },
          "Better and worse are differences of more than 10%. Figures that do not repeat well are not judged.",
        ),
      );
      byId("comparison").hidden = false;
      title.focus();
    } catch (error) {
      say(byId("compare-problem"), messageOf(error));
    }
  }

  /** @param {any} result */
  #filesOf(result) {
    const name = `cdc-bench-${result.command}-${result.startedAt.slice(0, 19).replaceAll(":", "")}`;
    const download = (/** @type {string} */ form, /** @type {string} */ type, /** @type {string} */ label) => {
      const onclick = () => void this.#save(`/api/kept/${result.id}?as=${form}`, type, `${name}.${form}`);
      return element("button", { type: "button", onclick }, label);
    };
    return element(
      "p",
      { class: "buttons" },
      element("a", { class: "button", href: result.report, target: "_blank", rel: "noopener" }, "Open the report"),
      download("html", "text/html", "Save the report"),
      download("json", "application/json", "Save the JSON"),
      download("md", "text/markdown", "Save as Markdown"),
      download("csv", "text/csv", "Save as CSV"),
      result.hasFlame && download("svg", "image/svg+xml", "Save the flame graph"),
      element("button", { type: "button", onclick: () => void this.#remove(result.id) }, "Remove"),
    );
  }

  /** @param {string} id */
  async #remove(id) {
    if (!confirm("Remove this result? Its file is deleted, and cannot be brought back.")) {
      return;
    }
    try {
      await remove(`/api/kept/${id}`);
      byId("result").hidden = true;
      announce("The result is removed.");
      byId("results-title").focus();
    } catch (error) {
      this.#onProblem(messageOf(error));
    }
  }

  /**
   * A link cannot send the token, so the bytes are asked for and then handed to the browser.
   * @param {string} path
   * @param {string} type
   * @param {string} name
   */
  async #save(path, type, name) {
    try {
      const address = URL.createObjectURL(new Blob([await getText(path)], { type }));
      element("a", { href: address, download: name }).click();
      setTimeout(() => URL.revokeObjectURL(address), 60_000);
    } catch (error) {
      this.#onProblem(messageOf(error));
    }
  }
}

/** @param {string} name of the radio buttons */
function chosen(name) {
  const input = byId("compare-form").querySelector(`input[name="${name}"]:checked`);
  return input instanceof HTMLInputElement ? input.value : "";
}

/**
 * @param {KeptRun} run
 * @param {string} before
 * @param {string} now
 * @param {() => void} onShow
 */
function keptRow(run, before, now, onShow) {
  const when = timeText(run.startedAt);
  const radio = (/** @type {string} */ name, /** @type {string} */ current) =>
    element(
      "td",
      {},
      element("input", {
        type: "radio",
        name,
        value: run.id,
        checked: current === run.id,
        "aria-label": `${name}: ${run.command}, ${when}`,
      }),
    );
  const end = run.exitCode === null ? "cut off" : endingText(run.exitCode);
  return element(
    "tr",
    { "data-run": run.id },
    radio("before", before),
    radio("now", now),
    element("td", {}, when),
    element("td", {}, element("code", {}, run.title)),
    element("td", {}, end + (run.hasFlame ? ", profile" : "")),
    element("td", {}, element("button", { type: "button", onclick: onShow, "aria-label": `Show ${run.command}, ${when}` }, "Show")),
  );
}

/**
 * @param {any[]} figures
 * @param {boolean} isComparison
 */
function figureTable(figures, isComparison) {
  const heads = isComparison ? ["figure", "of", "before", "now", "ratio", ""] : ["figure", "of", "value"];
  const rows = figures.map(({ name, scope, before, now, ratio, verdict }) => {
    const cells = isComparison
      ? [before?.text ?? "-", now?.text ?? "-", ratio === null ? "-" : `${ratio.toFixed(2)}x`, verdict ?? ""]
      : [now?.text ?? "-"];
    const classes = isComparison ? ["number", "number", "number", verdict ?? ""] : ["number"];
    return element(
      "tr",
      { "data-figure": name, "data-scope": scope },
      element("th", { scope: "row" }, name),
      element("td", {}, scope),
      ...cells.map((cell, index) => element("td", { class: classes[index] ?? "" }, cell)),
    );
  });
  const table = element(
    "table",
    { class: "figures-table" },
    element("thead", {}, element("tr", {}, ...heads.map((head) => element("th", { scope: "col" }, head)))),
    element("tbody", {}, ...rows),
  );
  return element("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Figures" }, table);
}

/** @param {string} iso */
function timeText(iso) {
  return new Date(iso).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "medium" });
}

/** @param {unknown} error */
function messageOf(error) {
  return error instanceof Error ? error.message : String(error);
}
