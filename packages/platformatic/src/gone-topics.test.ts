import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { GoneTopics } from "./gone-topics.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["performance"] });
});

afterEach(() => {
  vi.useRealTimers();
});

test("a topic is gone if brokers do not know it for a second, and not if one of them does meanwhile", () => {
  const topics = new GoneTopics();
  const note = (unknown: readonly string[]): readonly string[] => {
    vi.advanceTimersByTime(600);
    return topics.note(unknown);
  };
  expect([["a", "b"], ["a", "b"], ["b"], ["a", "b"], ["a", "b"], ["a", "b"]].map(note)).toEqual([[], [], ["b"], ["b"], ["b"], ["a", "b"]]);
});
