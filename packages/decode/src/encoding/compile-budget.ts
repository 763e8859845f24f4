/** What generating a reader takes, in bytes of JSON that are parsed in the same time. */
const bytesOfReader = 2_000;
const bytesOfField = 250;
/** So much may be generated at once, some forty readers of rows. */
const max = 524_288;

/**
 * Bounds the code that one topic's keys or values make us generate by the bytes that are read for it: a message may hold thousands of
 * documents, each of another shape. Until there is enough, a shape is read by parsing it first, with the same values.
 */
export class CompileBudget {
  #bytes = max;

  /** Whether a reader of so many fields may be generated now. `length`: of the text that is read without one else. */
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
