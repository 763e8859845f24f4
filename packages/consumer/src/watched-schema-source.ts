import type { RegisteredSchema, SchemaId, SchemaSource } from "@cdckit/decode";
import { type Clock, maxTimerMs } from "./clock.ts";
import type { ResolvedFailureOptions } from "./failure/failure-options.ts";
import type { OpenWait, Waits } from "./observe/waits.ts";
import { codeOf } from "./user-code/user-value.ts";

export interface SchemaWatchParts {
  readonly waits: Waits;
  readonly clock: Clock;
  readonly failure: Pick<ResolvedFailureOptions, "retry">;
}

/** A schema that is being loaded, or that could not be loaded and is asked for again later. */
interface Loading {
  readonly wait: OpenWait;
  asking: number;
  /** Cancels the timer that ends the wait when nobody asks again. */
  keep: () => void;
}

/**
 * Two attempts of a record are at most the longest retry delay apart. If nobody has asked for the schema for longer, nobody needs it any
 * more.
 */
const marginMs = 5_000;

/** A schema source that reports the schemas that are waited for. Schemas at hand pass through it untouched. */
export class WatchedSchemaSource implements SchemaSource {
  readonly peek: SchemaSource["peek"];
  readonly #source: SchemaSource;
  readonly #parts: SchemaWatchParts;
  readonly #loading = new Map<SchemaId, Loading>();
  #isClosed = false;

  constructor(source: SchemaSource, parts: SchemaWatchParts) {
    this.#source = source;
    this.#parts = parts;
    this.peek = source.peek.bind(source);
  }

  async load(id: SchemaId): Promise<RegisteredSchema> {
    const loading = this.#loading.get(id) ?? this.#open(id);
    loading.asking++;
    loading.keep();
    try {
      const schema = await this.#source.load(id);
      this.#end(id, loading);
      return schema;
    } catch (error) {
      // A load that ends after the close must not start a timer: it would keep the process alive.
      if (isUnavailable(error) && !this.#isClosed) {
        loading.wait.failed(error);
        this.#endUnlessAskedAgain(id, loading);
      } else {
        this.#end(id, loading); // this is an answer, too
      }
      throw error;
    } finally {
      loading.asking--;
    }
  }

  lastFailure(id: SchemaId): unknown {
    return this.#source.lastFailure?.(id);
  }

  /** Cancels every timer, and starts none any more. */
  close(): void {
    this.#isClosed = true;
    for (const [id, loading] of this.#loading) {
      this.#end(id, loading);
    }
  }

  #open(id: SchemaId): Loading {
    const { host } = this.#source;
    const lastFailure = (): unknown => this.lastFailure(id);
    const wait = this.#parts.waits.open({ what: `schema ${id}`, lastFailure, ...(host === undefined ? {} : { host }) });
    const loading: Loading = { wait, asking: 0, keep: () => {} };
    this.#loading.set(id, loading);
    return loading;
  }

  #endUnlessAskedAgain(id: SchemaId, loading: Loading): void {
    const { clock, failure } = this.#parts;
    loading.keep();
    loading.keep = clock.after(Math.min(failure.retry.maxDelayMs + marginMs, maxTimerMs), () => {
      if (loading.asking === 0) {
        this.#end(id, loading);
      }
    });
  }

  #end(id: SchemaId, loading: Loading): void {
    loading.keep();
    loading.wait.end();
    if (this.#loading.get(id) === loading) {
      this.#loading.delete(id);
    }
  }
}

/** What a source throws, and what is not one of the port's errors, counts as an outage, as in the decoder. */
function isUnavailable(error: unknown): boolean {
  const code = codeOf(error);
  return code !== "not-found" && code !== "refused";
}
