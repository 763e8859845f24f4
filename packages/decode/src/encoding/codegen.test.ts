import { describe, expect, test } from "vitest";
import { generate, Shapes } from "./codegen.ts";

/** What is made of values 0, 1, 2 and so on under these names. */
function madeWith(names: readonly string[]): object {
  const shapes = new Shapes();
  const expression = shapes.make(names.map((name, i) => [name, `${i}`]));
  return generate(`${shapes.source}return ${expression};`, {}) as object;
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
});
