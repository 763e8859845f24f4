/** Words of our own that gave way to the field's terms, and the names that still have one. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { filesUnder } from "./imports.mjs";

/**
 * @typedef {object} BannedWord
 * @property {string} word one word, or several that stand in a row; `most …` counts only as the first of several
 * @property {string} use
 * @property {RegExp} [within] the paths in which it is banned; everywhere if absent
 */

/** @type {readonly BannedWord[]} */
const bannedWords = [
  ...each(["short way", "short ways"], "fast path"),
  { word: "quick", use: "fast path", within: /^packages\/decode\// },
  ...each(["slow way", "long way"], "slow path"),
  { word: "unlike", use: "fastPathMiss, or different" },
  { word: "alike", use: "FastPathMatch, or same or similar" },
  { word: "open by next", use: "openWithFallback" },
  { word: "open whole", use: "openUnprojected" },
  { word: "is whole", use: "isUnprojected in detection, isComplete elsewhere" },
  { word: "instead", use: "override, or replacement" },
  { word: "opens", use: "envelopeFormat" },
  { word: "stated", use: "hinted, or declared" },
  { word: "plain side", use: "SchemalessDecoder" },
  { word: "connect side", use: "ConnectJsonDecoder" },
  { word: "side decoders", use: "SideDecoderCache" },
  ...each(["projection", "projections", "projected"], "schemaResolution", /\/encoding\/avro\//),
  ...each(["step", "steps", "stepped"], "instruction, or what is done", /^packages\//),
  ...each(["way", "ways"], "fieldReader, or what it is a way of"),
  ...each(["weave", "weaver"], "ClosureCompiler"),
  ...each(["extent", "extents"], "sizeBounds", /^packages\/decode\//),
  ...each(["weight", "weights", "weigh", "weighs", "weighed", "weighing", "weighings", "charge", "charges", "spend", "spends"], "cost"),
  ...each(["allowance", "allowances"], "budget"),
  ...each(["column meanings", "meanings"], "columnSemantics, or semantics", /^packages\/decode\/src\/detect\//),
  { word: "inner texts", use: "embeddedJsonBudget" },
  { word: "is settled", use: "isFinal", within: /\/encoding\/json\// },
  { word: "is ruled", use: "hasRuleSet" },
  { word: "is weak", use: "isAmbiguous" },
  { word: "most …", use: "max" },
  { word: "least …", use: "min" },
  ...each(["intake", "intakes"], "dispatcher"),
  { word: "batch run", use: "SerialBatchRunner" },
  { word: "partition run", use: "ConcurrentPartitionRunner" },
  ...each(["open record", "open records"], "InFlightRecord"),
  ...each(["stretch", "stretches"], "OffsetSpan"),
  ...each(["breathe", "breathed"], "yieldToEventLoop"),
  ...each(["doom", "doomed"], "pendingDeadLetter"),
  ...each(["remedy", "course"], "FailureDecision"),
  ...each(["scout", "scouting"], "BrokerOffsets"),
  ...each(["distrust", "distrusted"], "recheckTopic"),
  { word: "anew", use: "again, or recreated" },
  ...each(["passed over", "pass over"], "skipped"),
  { word: "goes on at", use: "resumeOffset" },
  { word: "told", use: "reported" },
];

/** Names that have such a word all the same. @type {readonly { name: string, within: RegExp, reason: string }[]} */
const exceptions = [
  ...["weight", "weights", "directWeights", "compressedWeights"].map((name) => ({
    name,
    within: /\/codecs\/zstd-huffman\.ts$/,
    reason: "RFC 8878 calls it so",
  })),
  { name: "weight", within: /\.test\.ts$/, reason: "fast-check calls the share of an arbitrary so" },
  { name: "openRecordFeed", within: /^packages\/cdc-bench\//, reason: "open is the verb: what it opens is a feed of records" },
];

/**
 * @param {readonly string[]} words
 * @param {string} use
 * @param {RegExp} [within]
 * @returns {BannedWord[]}
 */
function each(words, use, within) {
  return words.map((word) => (within === undefined ? { word, use } : { word, use, within }));
}

const folders = ["packages", "test", "bench", "scripts", "examples"];

/**
 * Each banned word in the name of a file, or in a name of its code, as a line of text.
 * @param {string} root
 * @returns {string[]}
 */
export function checkWords(root) {
  const present = folders.map((folder) => join(root, folder)).filter((folder) => existsSync(folder));
  return present.flatMap((folder) => filesUnder(folder, [".ts", ".mjs"]).flatMap((path) => wrongIn(root, path)));
}

/**
 * @param {string} root
 * @param {string} path
 */
function wrongIn(root, path) {
  const file = path.slice(root.length + 1).replaceAll("\\", "/");
  const fileName = file.slice(file.lastIndexOf("/") + 1).replace(/\.\w+$/, "");
  const banned = bannedIn(fileName, file);
  const wrong = banned === null ? [] : [`${file}: its name says "${banned.word}": use ${banned.use}.`];
  /** @type {Set<string>} */
  const seen = new Set();
  for (const { name, line } of namesOf(readFileSync(path, "utf8"))) {
    const found = seen.has(name) ? null : bannedIn(name, file);
    seen.add(name);
    if (found !== null) {
      wrong.push(`${file}:${line}: ${name} says "${found.word}": use ${found.use}.`);
    }
  }
  return wrong;
}

/**
 * @param {string} name
 * @param {string} file
 * @returns {BannedWord | null}
 */
function bannedIn(name, file) {
  if (exceptions.some((exception) => exception.name === name && exception.within.test(file))) {
    return null;
  }
  const text = ` ${wordsOf(name).join(" ")} `;
  const isBanned = (/** @type {BannedWord} */ { word, within }) => {
    const holds = word.endsWith(" …") ? text.startsWith(` ${word.slice(0, -1)}`) && text.trim().includes(" ") : text.includes(` ${word} `);
    return holds && (within === undefined || within.test(file));
  };
  return bannedWords.find(isBanned) ?? null;
}

/**
 * The words of a name in camelCase or kebab-case, in small letters.
 * @param {string} name
 */
function wordsOf(name) {
  return (name.match(/[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+/g) ?? []).map((word) => word.toLowerCase());
}

// Everything but names: comments, texts, and regular expressions. A regular expression begins if no value has just ended.
const token =
  /\/\/[^\n]*|\/\*[\s\S]*?\*\/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|(?<=(?:^|[(,=:[!&|?{};>]|\breturn|=>)\s*)\/(?![/*])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\/\w*|(?<name>[A-Za-z_$][\w$]*)|[`{}]/gm;
const templateText = /(?:\\[\s\S]|\$(?!\{)|[^\\`$])*/y;

/**
 * The names in a TypeScript or JavaScript text.
 * @param {string} text
 * @returns {Generator<{ name: string, line: number }, void, void>}
 */
function* namesOf(text) {
  /** Braces that are open, from the outside: those of code, and those of a place in a template. @type {("code" | "template")[]} */
  const open = [];
  let line = 1;
  let counted = 0;
  token.lastIndex = 0;
  for (let match = token.exec(text); match !== null; match = token.exec(text)) {
    const name = match.groups?.["name"];
    if (name !== undefined) {
      line += text.slice(counted, match.index).split("\n").length - 1;
      counted = match.index;
      yield { name, line };
    } else if (match[0] === "{") {
      open.push("code");
    } else if (match[0] === "`" || (match[0] === "}" && open.pop() === "template")) {
      token.lastIndex = templateEnd(text, token.lastIndex, open);
    }
  }
}

/**
 * The place after the text of a template, or after the brace that opens a place in it.
 * @param {string} text
 * @param {number} start
 * @param {("code" | "template")[]} open
 */
function templateEnd(text, start, open) {
  templateText.lastIndex = start;
  const end = start + (templateText.exec(text)?.[0].length ?? 0);
  if (text[end] === "$") {
    open.push("template");
    return end + 2;
  }
  return end + 1;
}
