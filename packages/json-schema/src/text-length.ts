import type { AddCost } from "./bounded-pattern.ts";

/** The cost of looking at one code unit. */
const nsOfUnit = 3;

/** Whether a text has at least so many characters. */
export function isAtLeast(limit: number, addCost: AddCost): (text: string) => boolean {
  return (text) => {
    const units = text.length;
    // A character is one or two code units, so most texts need not be looked at.
    return units >= limit && (units / 2 >= limit || characters(text, addCost) >= limit);
  };
}

/** Whether a text has at most so many characters. */
export function isAtMost(limit: number, addCost: AddCost): (text: string) => boolean {
  return (text) => {
    const units = text.length;
    return units <= limit || (units / 2 <= limit && characters(text, addCost) <= limit);
  };
}

function characters(text: string, addCost: AddCost): number {
  addCost(nsOfUnit * text.length);
  let count = text.length;
  for (let i = 0; i < text.length - 1; i++) {
    if ((text.charCodeAt(i) & 0xfc00) === 0xd800 && (text.charCodeAt(i + 1) & 0xfc00) === 0xdc00) {
      count--;
    }
  }
  return count;
}
