/** Refuses names that are no options: the test of a misspelt one would pass, and would have tested nothing. `whose`: what takes the options. */
export function checkOptionNames(whose: string, options: object, known: Readonly<Record<string, true>>): void {
  const unknown = Object.keys(options).find((name) => !Object.hasOwn(known, name));
  if (unknown !== undefined) {
    throw new RangeError(`${whose} has no option ${unknown}; the options are ${Object.keys(known).join(", ")}`);
  }
}
