module.exports = {
  transform: {
    "/node_modules/(@cdckit|cdckit)/.+\\.js$": "@swc/jest", // they are ES modules
    "\\.[cm]?tsx?$": ["@swc/jest", { jsc: { parser: { syntax: "typescript" } } }], // your own sources: ts-jest does as well
    "\\.[cm]?jsx?$": "babel-jest", // Jest's default
  },
  transformIgnorePatterns: ["/node_modules/(?!(\\.pnpm|@cdckit|cdckit)/)"],
};
