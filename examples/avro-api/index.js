// An API of rows: JSON or Avro, compressed or not, as the client asks.
import fastify, { LogController } from "fastify";
import pino from "pino";
import { codings, formsOf } from "./forms.js";
import { matchesCoding, matchesType, negotiate } from "./negotiate.js";
import { exampleRows, rowSchema } from "./rows.js";

const forms = formsOf(rowSchema);
const mediaTypes = Object.keys(forms);
/** By id. @type {Map<number, import("./rows.js").Row>} */
const rows = new Map(exampleRows(Number(process.env["ROWS"] ?? 1_000)).map((row) => [row.id, row]));

const logger = pino();
const logController = new LogController({ disableRequestLogging: true });
const app = fastify({
  loggerInstance: logger,
  logController,
  forceCloseConnections: true,
  bodyLimit: Number(process.env["BODY_LIMIT"] ?? 10_000_000),
});

// What comes is decompressed while it is read: `bodyLimit` counts both, so that a few bytes cannot become gigabytes.
app.addHook("preParsing", async (request, reply, payload) => {
  const name = (request.headers["content-encoding"] ?? "identity").toLowerCase();
  if (name === "identity") return payload;
  const coding = codings[name];
  if (coding === undefined) {
    reply.header("accept-encoding", Object.keys(codings).join(", "));
    throw refusal(415, `there is no content coding ${name}`);
  }
  const reader = Object.assign(coding.reader(), { receivedEncodedLength: 0 });
  payload.on("data", (chunk) => (reader.receivedEncodedLength += chunk.length)).on("error", (error) => reader.destroy(error));
  return payload.pipe(reader);
});

app.removeAllContentTypeParsers();
for (const [mediaType, form] of Object.entries(forms)) {
  app.addContentTypeParser(mediaType, { parseAs: "buffer" }, async (/** @type {unknown} */ _request, /** @type {Buffer} */ body) => {
    return form.read(body).catch((error) => {
      throw refusal(400, error instanceof TypeError || error instanceof SyntaxError ? error.message : "the body is broken");
    });
  });
}

app.get("/rows", (request, reply) => answer(request, reply, [...rows.values()]));
app.post("/rows", (request, reply) => {
  const received = /** @type {import("./rows.js").Row[]} */ (request.body); // the form has checked it
  if (received === undefined) throw refusal(400, "expected a body");
  for (const row of received) rows.set(row.id, row);
  return reply.send({ received: received.length });
});
app.get("/healthz", () => ({ live: true }));
app.get("/readyz", () => ({ ready: true }));

/** @param {import("fastify").FastifyRequest} request @param {import("fastify").FastifyReply} reply @param {readonly unknown[]} list */
async function answer({ headers }, reply, list) {
  const mediaType = negotiate(headers.accept, mediaTypes, matchesType);
  const form = forms[mediaType ?? ""];
  if (mediaType === undefined || form === undefined) throw refusal(406, `there is ${mediaTypes.join(" and ")}`);
  // Without a header, nothing is compressed; with one, what is not named comes last.
  const accepted = headers["accept-encoding"];
  const coding = accepted === undefined ? undefined : negotiate(String(accepted), Object.keys(codings), matchesCoding);
  const plain = await form.write(list);
  const body = (await codings[coding ?? ""]?.write(plain)) ?? plain;
  if (coding !== undefined) reply.header("content-encoding", coding);
  // A cache must not give one client's form to another.
  return reply.header("vary", "accept, accept-encoding").type(mediaType).send(body);
}

/** @param {number} statusCode @param {string} message */
function refusal(statusCode, message) {
  return Object.assign(new Error(message), { statusCode });
}

for (const signal of ["SIGTERM", "SIGINT"]) process.on(signal, () => void app.close()); // not once: npm passes a Ctrl-C on a second time
await app.listen({ host: "127.0.0.1", port: Number(process.env["PORT"] ?? 0) });
