// The same in five packages: a door that all of them may import at run time would make it public API of decode, which it is not about.
/** Makes the methods of an instance its own, so that they still work after they were taken out of it: `const { run, stop } = consumer`. */
export function bindMethods(instance: object): void {
  const prototype: object = Object.getPrototypeOf(instance) as object; // of a class of ours
  for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(prototype))) {
    if (typeof value === "function" && name !== "constructor") {
      const bound: unknown = (value as (...args: unknown[]) => unknown).bind(instance);
      Object.defineProperty(instance, name, { value: bound, configurable: true, writable: true });
    }
  }
}
