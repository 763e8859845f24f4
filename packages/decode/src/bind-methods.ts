// Five packages have a copy of this file. One shared copy would have to be public API of decode, which it has nothing to do with.
/** Binds the methods of an instance to it, so that they still work after destructuring: `const { run, stop } = consumer`. */
export function bindMethods(instance: object): void {
  const prototype: object = Object.getPrototypeOf(instance) as object; // always a class of this project
  for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(prototype))) {
    if (typeof value === "function" && name !== "constructor") {
      const bound: unknown = (value as (...args: unknown[]) => unknown).bind(instance);
      Object.defineProperty(instance, name, { value: bound, configurable: true, writable: true });
    }
  }
}
