/**
 * `node scripts/confluent-client.mjs`: installs @confluentinc/kafka-javascript for the tests of `packages/confluent`, beside `npm ci`.
 *
 * Its native part is downloaded from GitHub, or compiled if that fails, so it is no dependency of this repository: `npm ci` would need a network
 * beyond the registry, or a C++ compiler and minutes. It is installed once into a folder of the user's cache, and linked into node_modules.
 * `npm ci` removes the link: run this again then, which takes a second.
 *
 * To compile it takes a C++ compiler, make, Python 3 and the headers of OpenSSL, zlib, zstd and SASL. On Debian:
 * `apt-get install build-essential python3 libssl-dev zlib1g-dev libzstd-dev libsasl2-dev`. Without a network to nodejs.org, node-gyp also needs
 * Node's headers from elsewhere: `npm_config_nodedir=/usr node scripts/confluent-client.mjs`, if they are in /usr/include/node.
 */
import { spawnSync } from "node:child_process";
import { existsSync, lstatSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";
import { fail, repositoryRoot } from "./set-up.mjs";

const name = "@confluentinc/kafka-javascript";
const version = process.argv[2] ?? "1.10.1";

const platform = `${process.platform}-${process.arch}-node${process.versions.modules}`;
const cache = join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "cdckit", `confluent-${version}-${platform}`);
const installed = join(cache, "node_modules", name);

if (!loads()) {
  console.log(`installing ${name} ${version} into ${cache}; if its native part must be compiled, that takes minutes`);
  mkdirSync(cache, { recursive: true });
  writeFileSync(join(cache, "package.json"), JSON.stringify({ private: true }));
  // The build of librdkafka would else download the sources of OpenSSL, zlib and others. It reads this if it compiles.
  const env = { ...process.env, CKJS_LINKING: process.env["CKJS_LINKING"] ?? "dynamic" };
  const args = ["install", "--no-audit", "--no-fund", "--no-package-lock", "--foreground-scripts", `${name}@${version}`];
  const { status } = spawnSync("npm", args, { cwd: cache, env, stdio: "inherit", shell: process.platform === "win32" });
  if (status !== 0 || !loads()) {
    fail(
      `${name} ${version} was not installed, or its native part does not load: see above, and the head of scripts/confluent-client.mjs.`,
    );
  }
}
link(join(repositoryRoot, "node_modules", name));
console.log(`${name} ${version} loads; node_modules links to ${installed}`);

/** Whether the client is in the cache and its native part loads. */
function loads() {
  return existsSync(installed) && spawnSync(process.execPath, ["-e", `require(${JSON.stringify(installed)})`]).status === 0;
}

/** @param {string} place */
function link(place) {
  mkdirSync(dirname(place), { recursive: true });
  if (lstatSync(place, { throwIfNoEntry: false }) !== undefined) {
    rmSync(place, { recursive: true });
  }
  symlinkSync(installed, place, "junction");
}
