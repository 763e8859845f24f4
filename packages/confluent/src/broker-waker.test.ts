import { describe, expect, it } from "vitest";
import { BrokerWaker } from "./broker-waker.ts";
import type { Answer } from "./low-level-client.ts";

/** Notes what is asked, and answers when it is told to. */
class Asked {
  readonly places: string[] = [];
  #done: Answer<unknown> | null = null;

  queryWatermarkOffsets(topic: string, partition: number, _timeoutMs: number, done: Answer<unknown>): void {
    this.places.push(`${topic}[${partition}]`);
    this.#done = done;
  }

  /** Answers the question under way, and lets the next one be asked. */
  async answer(error: Error | null = null): Promise<void> {
    this.#done?.(error as never, null);
    await new Promise(setImmediate);
  }
}

describe("BrokerWaker", () => {
  it("asks about one partition after the other, and about each once while it waits", async () => {
    const asked = new Asked();
    const waker = new BrokerWaker(asked);
    waker.wake("a", 0);
    waker.wake("a", 1);
    waker.wake("a", 1);
    waker.wake("b", 0);
    expect(asked.places).toEqual(["a[0]"]);
    await asked.answer();
    await asked.answer(new Error("no leader"));
    await asked.answer();
    expect(asked.places).toEqual(["a[0]", "a[1]", "b[0]"]);
    waker.wake("a", 0);
    expect(asked.places).toHaveLength(4);
  });

  it("survives a client that is closed", async () => {
    const waker = new BrokerWaker({
      queryWatermarkOffsets: () => {
        throw new Error("not connected");
      },
    });
    waker.wake("a", 0);
    await waker.end();
  });

  it("ends with the question that is under way, and asks no other", async () => {
    const asked = new Asked();
    const waker = new BrokerWaker(asked);
    waker.wake("a", 0);
    waker.wake("a", 1);
    let isOver = false;
    const end = waker.end().then(() => {
      isOver = true;
    });
    await new Promise(setImmediate);
    expect(isOver).toBe(false);
    await asked.answer();
    await end;
    waker.wake("a", 2);
    expect(asked.places).toEqual(["a[0]"]);
  });
});
