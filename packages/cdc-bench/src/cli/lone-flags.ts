import type { Command } from "commander";
import { BenchError } from "../bench-error.ts";

/** Refuses flags that do nothing without another one. A flag that has its default was not given. */
export function refuseAlone(command: Command, flags: readonly string[], needed: string): void {
  command.hook("preAction", () => {
    const given = givenIn(command);
    const lone = flags.find((flag) => given.has(flag));
    if (lone !== undefined && !given.has(needed)) {
      throw new BenchError("usage", `${lone} goes with ${needed}: give both, or neither.`);
    }
  });
}

/** Refuses flags that do nothing beside another one. */
export function refuseBeside(command: Command, flags: readonly string[], other: string): void {
  command.hook("preAction", () => {
    const given = givenIn(command);
    const idle = flags.find((flag) => given.has(flag));
    if (idle !== undefined && given.has(other)) {
      throw new BenchError("usage", `${idle} and ${other} do not go together: leave one of them away.`);
    }
  });
}

function givenIn(command: Command): ReadonlySet<string | undefined> {
  const given = command.options.filter((option) => command.getOptionValueSource(option.attributeName()) === "cli");
  return new Set(given.map(({ long }) => long));
}
