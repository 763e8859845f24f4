import type { TableName } from "@cdckit/decode";

/** If a source has more tables than this, answers are worked out again: names from the wire must not fill the memory. */
const maxRemembered = 10_000;

/** No source has names this long. Answers for longer ones are worked out again, for the same reason. */
const maxKeyChars = 1_000;

/** What comes from a topic, such as an event. */
interface InTopic {
  readonly record: { readonly topic: string };
}

/**
 * Remembers an answer for each table, so that it is worked out once. If a pattern may be the name of a topic, the answer depends on the topic,
 * too.
 */
export class TableMemo<Answer> {
  readonly #make: () => Answer;
  readonly #known = new Map<string, Answer>();
  #asksTopics = false;
  // Neighbouring events nearly always have the same table. Comparing names with those of the last event saves a map key for each event.
  #last: { readonly table: TableName | null; readonly topic: string; readonly answer: Answer } | null = null;

  /** `make`: makes the answer for a table that is not known. */
  constructor(make: () => Answer) {
    this.#make = make;
  }

  /** From now on, answers depend on the topic. */
  askTopics(): void {
    this.#asksTopics = true;
  }

  /** `event`: has the topic. Its record is made where somebody asks for it, so it is left alone where no answer depends on the topic. */
  answerFor(table: TableName | null, event: InTopic): Answer {
    const last = this.#last;
    const topic = this.#asksTopics ? event.record.topic : "";
    if (last !== null && isSameTable(last.table, table) && last.topic === topic) {
      return last.answer;
    }
    const answer = this.#lookUp(keyOf(table, topic));
    this.#last = { table, topic, answer };
    return answer;
  }

  #lookUp(key: string): Answer {
    let answer = this.#known.get(key);
    if (answer === undefined) {
      answer = this.#make();
      if (this.#known.size >= maxRemembered) {
        this.#known.clear();
      }
      if (key.length <= maxKeyChars) {
        this.#known.set(key, answer);
      }
    }
    return answer;
  }
}

/** With the lengths of the names, because any character may stand in one. A decoder of the user's may write null for a part that it lacks. */
function keyOf(table: TableName | null, topic: string): string {
  if (table === null) {
    return topic;
  }
  const [database, schema, name] = [table.database ?? "", table.schema ?? "", table.name ?? ""];
  return `${database.length},${schema.length},${name.length} ${database}${schema}${name}${topic}`;
}

function isSameTable(a: TableName | null, b: TableName | null): boolean {
  return a === b || (a !== null && b !== null && a.name === b.name && a.schema === b.schema && a.database === b.database);
}
