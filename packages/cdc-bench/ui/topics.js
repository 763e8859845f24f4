/** Looking into topics, as `inspect` does. */
import { asApiError, post } from "./api.js";
import { announce, byId, countText, element, say } from "./dom.js";
import { showForm } from "./forms.js";
import { recordItem } from "./records.js";

/** As many as the server keeps: a stream that is followed for hours does not fill the page. */
const maxShown = 500;
/** What is read if nothing else is asked for: a topic may hold millions. */
const defaultLimit = "50";

/**
 * @param {{ look: import("./forms.js").Form, topics: import("./forms.js").Form }} forms
 * @param {boolean} isMaskForced
 */
export function createTopics(forms, isMaskForced) {
  byId("mask-note").hidden = !isMaskForced;
  return new Topics(forms);
}

class Topics {
  #form;
  /** What the list of topics takes of the form. */
  #clusterFields;

  /** @param {{ look: import("./forms.js").Form, topics: import("./forms.js").Form }} forms */
  constructor({ look, topics }) {
    const fields = look.fields.map((field) => (field.name === "--limit" ? { ...field, initial: defaultLimit } : field));
    this.#form = showForm({ ...look, fields }, byId("look-fields"), "look");
    this.#clusterFields = new Set(topics.fields.map(({ name }) => name));
    byId("look-form").onsubmit = (event) => {
      event.preventDefault();
      void this.#ask(() => this.#look());
    };
    byId("look-stop").onclick = () => void this.#ask(() => post("/api/look/stop"));
    byId("list-topics").onclick = () => void this.#ask(() => this.#listTopics());
  }

  /** @param {any} look */
  restore(look) {
    byId("records").replaceChildren();
    if (look !== null) {
      this.change(look);
      this.add(look.lines);
    }
  }

  /** @param {any} look */
  change({ lines, status, title, isMasked, problem, summary }) {
    if (lines !== undefined && lines.length === 0) {
      byId("records").replaceChildren();
    }
    const words = { reading: "reading", stopping: "stopping", ended: problem === "" ? "ended" : "failed" };
    const masked = isMasked ? ", values hidden" : "";
    byId("look-status").textContent = `cdc-bench ${title}: ${words[/** @type {"ended"} */ (status)]}${masked}`;
    byId("look-status").dataset.status = status;
    byId("look-stop").hidden = status !== "reading";
    say(byId("look-problem"), problem);
    this.#form.markFlagOf(problem);
    say(byId("look-summary"), summary);
  }

  /** @param {import("./records.js").SeenLine[]} lines */
  add(lines) {
    const list = byId("records");
    list.append(...lines.map(recordItem));
    while (list.children.length > maxShown) {
      list.firstElementChild?.remove();
    }
  }

  async #look() {
    const { "--limit": limit, ...values } = this.#form.values();
    // Who follows wants to go on until Stop.
    const isEndless = values["--follow"] === true && limit === defaultLimit;
    await post("/api/look", { values: isEndless || limit === undefined ? values : { ...values, "--limit": limit } });
  }

  async #listTopics() {
    const values = Object.fromEntries(Object.entries(this.#form.values()).filter(([name]) => this.#clusterFields.has(name)));
    byId("topic-list").replaceChildren(element("p", {}, "Asking the brokers."));
    try {
      this.#showTopics((await post("/api/topics", { values })).topics);
    } catch (error) {
      byId("topic-list").replaceChildren();
      throw error;
    }
  }

  /** @param {() => Promise<unknown>} action */
  async #ask(action) {
    say(byId("look-problem"), "");
    this.#form.mark(null, "");
    try {
      await action();
    } catch (error) {
      const { message, field } = asApiError(error);
      this.#form.mark(field, message);
      say(byId("look-problem"), message);
    }
  }

  /** @param {{ name: string, partitions: number, maxRecords: number }[]} topics */
  #showTopics(topics) {
    const items = topics.map(({ name, partitions, maxRecords }) =>
      element(
        "li",
        {},
        element("button", { type: "button", "data-topic": name, onclick: () => this.#choose(name) }, name),
        ` ${partitions} ${partitions === 1 ? "partition" : "partitions"}, ${countText(maxRecords)} records at most`,
      ),
    );
    byId("topic-list").replaceChildren(
      topics.length === 0
        ? element("p", {}, "The cluster has no topics.")
        : element("ul", { "aria-label": "Topics of the cluster" }, ...items),
    );
    announce(`${topics.length} topics`);
  }

  /** @param {string} topic */
  #choose(topic) {
    this.#form.set("--topics", topic);
    announce(`${topic} is chosen.`);
    byId("look").focus();
  }
}
