import { generateKeyPairSync, sign } from "node:crypto";

/** A certificate and its key, as PEM. */
export interface SelfSigned {
  readonly cert: string;
  readonly key: string;
}

/** A certificate that vouches for itself, for a day and for 127.0.0.1. Made here, because not every machine has openssl. */
export function selfSigned(commonName: string): SelfSigned {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const name = sequence(der(0x31, sequence(oid("550403"), der(0x0c, Buffer.from(commonName)))));
  const algorithm = sequence(oid("2a8648ce3d040302")); // ecdsa-with-SHA256
  const now = Date.now();
  const content = sequence(
    der(0xa0, integer(2)), // version 3
    integer(1),
    algorithm,
    name,
    sequence(utcTime(now - 3_600_000), utcTime(now + 86_400_000)),
    name,
    publicKey.export({ type: "spki", format: "der" }),
    der(0xa3, sequence(basicConstraints, subjectAltName)),
  );
  const cert = sequence(content, algorithm, der(0x03, Buffer.from([0]), sign("sha256", content, privateKey)));
  const lines = cert.toString("base64").replace(/.{64}(?=.)/g, "$&\n");
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: "pkcs8", format: "pem" }) as string,
  };
}

/** Tag, length, content: the only shape that X.509 has. */
function der(tag: number, ...contents: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(contents);
  const { length } = content;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

function sequence(...contents: readonly Uint8Array[]): Buffer {
  return der(0x30, ...contents);
}

function oid(hex: string): Buffer {
  return der(0x06, Buffer.from(hex, "hex"));
}

function integer(value: number): Buffer {
  return der(0x02, Buffer.from([value]));
}

function utcTime(timeMs: number): Buffer {
  const digits = new Date(timeMs).toISOString().replace(/[^0-9]/g, "");
  return der(0x17, Buffer.from(`${digits.slice(2, 14)}Z`));
}

const basicConstraints = sequence(oid("551d13"), der(0x01, Buffer.from([0xff])), der(0x04, sequence(der(0x01, Buffer.from([0xff])))));
const subjectAltName = sequence(oid("551d11"), der(0x04, sequence(der(0x87, Buffer.from([127, 0, 0, 1])))));
