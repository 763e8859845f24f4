import { Command, Option } from "commander";
import { describe, expect, test } from "vitest";
import { commands } from "../cli/commands.ts";
import { argsOf, FormError } from "./form-args.ts";
import { type Form, formOf, isMeasuring } from "./form.ts";

/** All commands, as the program has them. */
async function everyCommand(): Promise<readonly Command[]> {
  const program = new Command();
  for (const entry of commands) {
    (await entry.load())(program, {} as never, () => {});
  }
  return program.commands;
}

function example(): Form {
  const command = new Command("example")
    .description("about it")
    .argument("[files...]", "what to read")
    .option("--ssl", "with TLS")
    .option("--no-ssl", "without TLS")
    .option("--quick", "less")
    .option("--no-evolve", "the same schema all the time")
    .option("--where <column=value>", "may be repeated", (text: string) => text)
    .option("--rows <n>", "rows", Number, 20)
    .option("--wait <time>", "a time", (text: string) => Number(text) * 1e3, 5_000)
    .addOption(new Option("--mode <mode>", "how").choices(["a", "b"]).default("b"))
    .addOption(new Option("--secret <x>", "not for help").hideHelp())
    .option("-o, --output <file>", "where to")
    .option("--json", "as JSON");
  return formOf(command);
}

describe("a form", () => {
  test("has a field for every flag of its command, and none for what the page decides", () => {
    expect(example().fields.map(({ name, kind, initial }) => [name, kind, initial])).toEqual([
      ["files", "list", ""],
      ["--ssl", "choice", ""],
      ["--quick", "switch", ""],
      ["--no-evolve", "switch", ""],
      ["--where", "list", ""],
      ["--rows", "text", "20"],
      ["--wait", "text", ""], // 5000 is what was made of it, not what is typed
      ["--mode", "choice", "b"],
    ]);
  });

  test("gives arguments, each value in one word with its flag", () => {
    const values = { files: "a\nb", "--ssl": "--no-ssl", "--quick": true, "--where": "x=1\n\n y=--json ", "--rows": " -5 ", "--mode": "a" };
    expect(argsOf(example(), values)).toEqual([
      "--no-ssl",
      "--quick",
      "--where=x=1",
      "--where=y=--json",
      "--rows=-5",
      "--mode=a",
      "--",
      "a",
      "b",
    ]);
    expect(argsOf(example(), { "--quick": false, "--mode": "b", "--rows": "20", "--where": [] })).toEqual([]);
  });

  test.each([
    [{ "--output": "/etc/passwd" }, "example has no field --output."],
    [{ "--json": true }, "no field --json"],
    [{ "--secret": "x" }, "no field --secret"],
    [{ toString: "x" }, "no field toString"],
    [{ "--mode": "c" }, "mode must be one of a, b."],
    [{ "--mode": "--json" }, "must be one of"],
    [{ "--ssl": "--json" }, "must be one of"],
    [{ "--quick": "yes" }, "quick is on or off"],
    [{ "--rows": 5 }, "rows must be a text"],
    [{ "--rows": "a\0b" }, "at most 4096 characters"],
    [{ "--rows": "x".repeat(5_000) }, "at most 4096 characters"],
    [{ "--where": Array.from({ length: 65 }, () => "x=1") }, "64 lines at most"],
  ])("refuses %j", (values, said) => {
    expect(() => argsOf(example(), values)).toThrow(FormError);
    expect(() => argsOf(example(), values)).toThrow(said);
  });
});

test("every command that measures is offered, with the flags of its help", async () => {
  const measuring = (await everyCommand()).filter(isMeasuring);
  expect(measuring.map((command) => command.name())).toEqual(expect.arrayContaining(["demo", "run", "codec"]));
  expect(measuring.map((command) => command.name())).not.toEqual(expect.arrayContaining(["inspect"]));
  expect(measuring.map((command) => command.name())).not.toContain("ui");
  const own = ["--json", "--output", "--output-format", "--profile", "--log-level", "--log-json", "--debug"];
  for (const command of measuring) {
    const shown = formOf(command).fields.flatMap(({ name, choices }) => [name, ...choices.map(({ value }) => value)]);
    const visible = command.options.filter(({ hidden }) => !hidden); // an older name of a flag is hidden
    const flags = visible.map(({ long }) => long ?? "").filter((flag) => !own.includes(flag));
    expect(shown, command.name()).toEqual(expect.arrayContaining(flags));
  }
});

test("flags that add up take several lines, and no password has a field", async () => {
  const all = (await everyCommand()).map((command) => formOf(command));
  const kindOf = (command: string, flag: string): string | undefined =>
    all.find((form) => form.command === command)?.fields.find(({ name }) => name === flag)?.kind;
  expect([kindOf("run", "--threshold"), kindOf("inspect", "--where"), kindOf("inspect", "--header")]).toEqual(["list", "list", "list"]);
  expect(kindOf("run", "--topics")).toBe("text");
  const names = all.flatMap(({ fields }) => fields.map(({ name }) => name));
  expect(names.filter((name) => /password|token|secret/.test(name))).toEqual([]);
});
