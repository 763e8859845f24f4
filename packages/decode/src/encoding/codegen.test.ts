import { setFlagsFromString } from "node:v8";
import { runInNewContext, runInThisContext } from "node:vm";
import { describe, expect, test } from "vitest";
import { Shapes } from "./codegen.ts";

/** What is made of values 0, 1, 2 and so on under these names. */
function madeWith(names: readonly string[]): object {
  const shapes = new Shapes();
  const expression = shapes.make(names.map((name, i) => [name, `${i}`]));
  return shapes.generate(`return ${expression};`, {}) as object;
}

const some = ["id", 'quo"te', "\u2028", "größe", "1", "a b", ""];
const many = Array.from({ length: 300 }, (_, i) => `column ${i}`);

describe("objects of generated code", () => {
  test.each([[some], [many], [[]], [["__proto__", "id"]], [["constructor", "toString", "id"]]])("are plain objects with %j", (names) => {
    const made = madeWith(names);
    expect(Object.getPrototypeOf(made)).toBe(Object.prototype);
    expect(Object.entries(made)).toEqual(Object.entries(Object.fromEntries(names.map((name, i) => [name, i]))));
    const wanted = { value: 0, writable: true, enumerable: true, configurable: true };
    expect(Object.values(Object.getOwnPropertyDescriptors(made)).map((one) => ({ ...one, value: 0 }))).toEqual(names.map(() => wanted));
  });

  test("leave Object.prototype as it was", () => {
    const before = Object.getOwnPropertyNames(Object.prototype);
    madeWith([...some, ...before]);
    expect(Object.getOwnPropertyNames(Object.prototype)).toEqual(before);
    expect(Object.prototype.constructor).toBe(Object);
  });

  test("have the same hidden class if they have the same properties, whichever source they come from", () => {
    setFlagsFromString("--allow-natives-syntax");
    const haveSameClass = runInThisContext("(a, b) => %HaveSameMap(a, b)") as (a: object, b: object) => boolean;
    const [first, second, other] = [
      ["a", "b"],
      ["a", "b"],
      ["b", "a"],
    ].map(madeWith) as [object, object, object];
    expect([haveSameClass(first, second), haveSameClass(first, other)]).toEqual([true, false]);
  });

  test("do not keep what their source refers to, nor the source", async () => {
    setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc") as () => void;
    const mebibyte = 1_048_576;
    const make = (nth: number): WeakRef<object> => {
      const shapes = new Shapes();
      const expression = shapes.make([[`only here ${nth}`, "value"]]);
      const large = { text: "large" };
      shapes.generate(`/*${"-".repeat(mebibyte)}*/ return () => ${expression};`, { value: large });
      return new WeakRef(large);
    };
    collect();
    const { heapUsed } = process.memoryUsage();
    const all = Array.from({ length: 64 }, (_, nth) => make(nth));
    await new Promise((resolve) => setImmediate(resolve)); // a WeakRef holds its target until the turn ends
    collect();
    expect(all.map((large) => large.deref())).toEqual(all.map(() => undefined));
    expect(process.memoryUsage().heapUsed - heapUsed).toBeLessThan(32 * mebibyte);
  });
});
