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
import process from "node:process";
import { readArguments } from "./arguments.mjs";
import { linkCachedPackage } from "./cached-package.mjs";

const usage = `usage: node scripts/confluent-client.mjs [VERSION]

  installs this version of @confluentinc/kafka-javascript (default 1.10.1) into a folder of the cache, and links it into node_modules`;

const [version = "1.10.1"] = readArguments(usage, {}, { words: true }).positionals;

linkCachedPackage({
  name: "@confluentinc/kafka-javascript",
  version,
  folder: `confluent-${version}-${process.platform}-${process.arch}-node${process.versions.modules}`,
  // The build of librdkafka would else download the sources of OpenSSL, zlib and others. It reads this if it compiles.
  env: { CKJS_LINKING: process.env["CKJS_LINKING"] ?? "dynamic" },
  note: "if its native part must be compiled, that takes minutes",
});
