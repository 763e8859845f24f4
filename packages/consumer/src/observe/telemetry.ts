import type { Subject } from "./handler-observer.ts";

/** What is reported of one handler call. */
export interface HandlerSpan {
  /** Runs the handler in the span's context, so that what it calls is part of it. */
  run<T>(handle: () => T): T;
  end(durationMs: number, error: unknown): void;
}

/** Gets the handler calls. */
export interface Telemetry {
  /** Runs what starts to consume outside of the span that is active, so that handlers are not part of that span. */
  detach<T>(start: () => T): T;
  begin(subject: Subject): HandlerSpan;
}
