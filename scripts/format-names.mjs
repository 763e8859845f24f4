/**
 * The format name check: in the sources of decode, a format's name stands in its own folder and in `detect/formats.ts` alone. What the rest
 * needs to know of a format is a member of its port, so that a new format is a folder and a line.
 *
 * Run alone: `node scripts/format-names.mjs [repository]`.
 */
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { filesUnder, importsOf, isTestFile } from "./imports.mjs";
import { roomTables } from "./room-table.mjs";
import { repositoryRoot } from "./set-up.mjs";

const source = "packages/decode/src";
/** The list of all formats, and the names as types, so that editors know them. A format need not be added to the second. */
const lists = new Set(["detect/formats.ts", "event.ts"]);
/** The files in which a format says its name. */
const formatFiles = new Set(["recognise.ts", "encoding.ts", "envelope.ts"]);
const declaredName = /\bname: "(?<name>[\w-]+)"|\bprimitive\("(?<primitive>\w+)"/g;

/**
 * Names that are also words of other vocabularies: types of SQL, of Connect and of Protobuf, connectors, members of messages, and plain
 * English. Such a word counts as a format's name only in `detect/` and `decoder.ts`, and after a word that speaks of formats.
 */
const homonyms = new Set("json text bytes uuid int16 int32 int64 float32 float64 none mongodb cockroachdb deltaforge".split(" "));
const roomsOfFormats = /^(?:detect\/|decoder\.ts$)/;
/** What makes a prefix of a name: `"glue:"`, `"glue:${id}"`. */
const prefixTail = /[.:/+](?:$|\$\{[^]*)/;
const speaksOfFormats = /\b(?:framing|encoding|envelope)\w*(?:\.name)?\s*(?:[=!]==|[:=,]|\?\?)\s*$/i;

/** The formats that detection reads text with. */
const readByDetection = new Set(["encoding/json", "encoding/connect-json"]);

/**
 * Every name of a format outside its folder, and every import by which detection reaches past the list, as `path:line: sentence`.
 * @param {string} root
 * @returns {string[]}
 */
export function checkFormatNames(root) {
  const folder = join(root, source);
  if (!existsSync(folder)) {
    return [];
  }
  const formats = readFormats(folder);
  const files = filesUnder(folder, [".ts"]).filter((file) => !isTestFile(file) && !lists.has(relative(folder, file)));
  return files.flatMap((file) => [...complaintsOf(folder, file, formats)].map((complaint) => `${relative(root, file)}:${complaint}`));
}

/**
 * The names of all formats, each with the folders that may say it.
 * @param {string} folder
 * @returns {Map<string, Set<string>>}
 */
export function readFormats(folder) {
  /** @type {Map<string, Set<string>>} */
  const formats = new Map();
  for (const own of formatFolders(folder)) {
    for (const file of readdirSync(join(folder, own)).filter((name) => formatFiles.has(name))) {
      for (const { groups } of readFileSync(join(folder, own, file), "utf8").matchAll(declaredName)) {
        const name = groups?.["name"] ?? groups?.["primitive"] ?? "";
        formats.set(name, (formats.get(name) ?? new Set()).add(own));
      }
    }
  }
  return formats;
}

/** @param {string} folder */
function formatFolders(folder) {
  const layers = (roomTables["decode"]?.layers ?? []).filter((layer) => existsSync(join(folder, layer)));
  return layers.flatMap((layer) =>
    readdirSync(join(folder, layer), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map((entry) => join(layer, entry.name)),
  );
}

/**
 * @param {string} folder
 * @param {string} file
 * @param {Map<string, Set<string>>} formats
 * @returns {Generator<string>}
 */
function* complaintsOf(folder, file, formats) {
  const text = readFileSync(file, "utf8");
  const path = relative(folder, file);
  const isRoomOfFormats = roomsOfFormats.test(path);
  for (const { text: literal, before, line } of literalsOf(text)) {
    const name = isRoomOfFormats ? literal.replace(prefixTail, "") : literal;
    const owners = formats.get(name);
    const isMeant = !homonyms.has(name) || isRoomOfFormats || speaksOfFormats.test(before);
    if (owners !== undefined && isMeant && !owners.has(dirname(path))) {
      const otherwise = isRoomOfFormats
        ? ""
        : ` If "${name}" means something else here (a member of a message, a connector), add it to homonyms in scripts/format-names.mjs.`;
      yield `${line}: names the format "${name}". Its name stands in its own folder and in detect/formats.ts: make what is needed of it a member of its port.${otherwise}`;
    }
  }
  for (const { specifier, line } of path.startsWith("detect/") ? importsOf(text) : []) {
    const target = dirname(relative(folder, resolve(dirname(file), specifier)));
    if (specifier.startsWith(".") && formatFolders(folder).includes(target) && !readByDetection.has(target)) {
      yield `${line}: imports ${target}. Detection knows formats by detect/formats.ts and their ports alone.`;
    }
  }
}

const token = /"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`|\/\/[^\n]*|\/\*[^]*?\*\//g;

/**
 * The string literals of a text, with what stands before them on their line. Comments may say what they like.
 * @param {string} text
 * @returns {Generator<{ text: string, before: string, line: number }>}
 */
function* literalsOf(text) {
  for (const { 0: found, index } of text.matchAll(token)) {
    if (!found.startsWith("/")) {
      const start = text.lastIndexOf("\n", index) + 1;
      yield { text: found.slice(1, -1), before: text.slice(start, index), line: text.slice(0, index).split("\n").length };
    }
  }
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const complaints = checkFormatNames(resolve(process.argv[2] ?? repositoryRoot));
  for (const complaint of complaints) {
    console.log(complaint);
  }
  process.exitCode = complaints.length === 0 ? 0 : 1;
}
