/** A module of a worker thread, as TypeScript writes `export default` for CommonJS. Its consumer stops at the first record. */
"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
const { createConsumer } = require("@cdckit/consumer");
const { memory } = require("@cdckit/testkit");

exports.default = (options) => {
  const driver = memory({ topics: { orders: 1 } });
  driver.broker.append("orders", { value: '{"id":1}' });
  const consumer = createConsumer({ ...options, driver });
  return consumer.on("*", () => void consumer.stop());
};
