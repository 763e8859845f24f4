import type { ServerResponse } from "node:http";

/** The most bytes that wait for one reader. One that is further behind is cut off; it comes back and asks for the state. */
const maxWaitingBytes = 12 * 1024 * 1024;
/** What can be left out is left out for a reader with more than this waiting. */
const behindBytes = 64 * 1024;
const maxReaders = 32;
const aliveEveryMs = 10_000;

/** One event: its name, and what is sent as JSON. */
export interface StreamEvent {
  readonly name: string;
  readonly data: unknown;
  /** Whether a slow reader may miss it, because the next one says it again. */
  readonly isReplaceable?: boolean;
}

/** Server-sent events to every open page. */
export interface EventStream {
  readonly readers: number;
  /** Whether all readers have yet to read what they were sent: what can wait should. One that reads nothing holds up no other. */
  readonly areBehind: boolean;
  /** Answers a request with the stream, `first` before all else; false if there are too many readers. */
  open(response: ServerResponse, first: readonly StreamEvent[]): boolean;
  send(event: StreamEvent): void;
  close(): void;
}

export function createEventStream(): EventStream {
  const responses = new Set<ServerResponse>();
  const write = (response: ServerResponse, text: string): void => {
    if (response.writableLength > maxWaitingBytes) {
      response.destroy();
      return;
    }
    response.write(text);
  };
  // Says that we are there; and a connection that is gone shows itself at the next write.
  const alive = setInterval(() => responses.forEach((response) => write(response, ": alive\n\n")), aliveEveryMs);
  alive.unref();
  return {
    get readers() {
      return responses.size;
    },
    get areBehind() {
      return responses.size > 0 && [...responses].every(({ writableLength }) => writableLength >= behindBytes);
    },
    open(response, first) {
      if (responses.size >= maxReaders) {
        return false;
      }
      response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-store" });
      responses.add(response);
      response.on("close", () => responses.delete(response));
      response.on("error", () => response.destroy());
      response.write(first.map(eventText).join("") || ": open\n\n");
      return true;
    },
    send(event) {
      if (responses.size === 0) {
        return;
      }
      const text = eventText(event);
      for (const response of responses) {
        if (event.isReplaceable !== true || response.writableLength < behindBytes) {
          write(response, text);
        }
      }
    },
    close() {
      clearInterval(alive);
      for (const response of responses) {
        response.end(eventText({ name: "closing", data: null }));
      }
      responses.clear();
    },
  };
}

/** JSON has no line breaks of its own, so one `data` line is enough. */
function eventText({ name, data }: StreamEvent): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}
