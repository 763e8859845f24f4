import { patternInvalid } from "./schema-invalid.ts";

export function codeOf(char: string): number {
  return char.codePointAt(0) as number; // the text has one character
}

/** A character in the syntax of RE2, valid inside of a class and outside. */
export function characterSource(code: number): string {
  return `\\x{${code.toString(16)}}`;
}

export function isCharacterSource(source: string): boolean {
  return source.startsWith("\\x{") && source.indexOf("}") === source.length - 1;
}

export function hexNumber(text: string): number {
  const value = /^[0-9a-fA-F]{1,6}$/.test(text) ? Number.parseInt(text, 16) : Number.NaN;
  if (!(value <= 0x10ffff)) {
    throw patternInvalid("has an invalid escape");
  }
  return value;
}

export const controls: ReadonlyMap<string, string> = new Map([
  ["t", "\t"],
  ["n", "\n"],
  ["r", "\r"],
  ["v", "\v"],
  ["f", "\f"],
  ["0", "\0"],
]);

export const anything: string = "[\\x{0}-\\x{10ffff}]";
export const nothing: string = "[^\\x{0}-\\x{10ffff}]";
export const anyInLine: string = "[^\\x{a}\\x{d}\\x{2028}\\x{2029}]";

const whitespaceRanges: readonly (readonly [number, number])[] = [
  [0x09, 0x0d],
  [0x20, 0x20],
  [0xa0, 0xa0],
  [0x1680, 0x1680],
  [0x2000, 0x200a],
  [0x2028, 0x2029],
  [0x202f, 0x202f],
  [0x205f, 0x205f],
  [0x3000, 0x3000],
  [0xfeff, 0xfeff],
];
export const whitespace: string = rangesSource(whitespaceRanges);
export const noWhitespace: string = rangesSource([
  [0, 0x08],
  ...whitespaceRanges.map(([, end], i) => [end + 1, (whitespaceRanges[i + 1]?.[0] ?? 0x110000) - 1] as const),
]);

function rangesSource(ranges: readonly (readonly [number, number])[]): string {
  return ranges.map(([start, end]) => `${characterSource(start)}-${characterSource(end)}`).join("");
}

/** Short names of the categories, because RE2 does not know the long ones. */
const longCategories: ReadonlyMap<string, string> = new Map(
  [
    "Letter=L Lowercase_Letter=Ll Uppercase_Letter=Lu Titlecase_Letter=Lt Modifier_Letter=Lm Other_Letter=Lo",
    "Mark=M Nonspacing_Mark=Mn Spacing_Mark=Mc Enclosing_Mark=Me Number=N Decimal_Number=Nd Letter_Number=Nl Other_Number=No",
    "Punctuation=P Symbol=S Math_Symbol=Sm Currency_Symbol=Sc Separator=Z Space_Separator=Zs Control=Cc",
  ]
    .flatMap((line) => line.split(" "))
    .map((pair) => pair.split("=") as [string, string]), // each part of the list has one "="
);

/** RE2's name of a property of characters (`gc=Lu`, `Script=Greek`, `Letter`). RE2 may not know it. */
export function propertyName(name: string): string {
  const value = name.replace(/^(?:gc|General_Category|sc|Script)=/, "");
  return longCategories.get(value) ?? value;
}
