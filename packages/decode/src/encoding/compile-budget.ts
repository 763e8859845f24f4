/** The cost of generating a reader: parsing this many bytes of JSON takes as long. */
const bytesOfReader = 2_000;
const bytesOfField = 250;
/** The budget at the start, and its maximum: about forty readers of rows. */
const max = 524_288;

/**
 * Limits the readers that are generated for one topic's keys or values by the number of bytes that are read. A message may hold thousands
 * of documents with different shapes, and generating a reader for each would take much longer than reading them. While the budget is used
 * up, documents of a new shape are parsed without a reader, which gives the same values.
 */
export class CompileBudget {
  #bytes = max;

  /** Whether a reader of this many fields may be generated now. `length` is the length of the text that is read without a reader if not. */
  take(fields: number, length: number): boolean {
    const cost = bytesOfReader + fields * bytesOfField;
    this.#bytes = Math.min(max, this.#bytes + length);
    if (this.#bytes < cost) {
      return false;
    }
    this.#bytes -= cost;
    return true;
  }
}
