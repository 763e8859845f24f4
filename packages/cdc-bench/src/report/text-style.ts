import { styleText } from "node:util";

/** What a part of a text is, for its color. */
export type TextRole = "place" | "change" | "name" | "problem" | "aside" | "best";

/** Colors a part of a text, or leaves it as it is. */
export type TextStyle = (role: TextRole, text: string) => string;

export const plainStyle: TextStyle = (_role, text) => text;

const formats = { place: "cyan", change: "bold", name: "dim", problem: "red", aside: "dim", best: "green" } as const;

/** Colors on a terminal. FORCE_COLOR wins over NO_COLOR, and both over what the terminal is, as Node itself has it. */
export function styleOf(env: Readonly<Record<string, string | undefined>>, isTerminal: boolean): TextStyle {
  return hasColors(env, isTerminal)
    ? (role, text) => (text === "" ? "" : styleText(formats[role], text, { validateStream: false }))
    : plainStyle;
}

/** Whether text has colors: {@link styleOf}. */
export function hasColors(env: Readonly<Record<string, string | undefined>>, isTerminal: boolean): boolean {
  const forced = env["FORCE_COLOR"];
  if (forced !== undefined) {
    return !["0", "false"].includes(forced);
  }
  return isTerminal && (env["NO_COLOR"] ?? "") === "" && env["TERM"] !== "dumb";
}
