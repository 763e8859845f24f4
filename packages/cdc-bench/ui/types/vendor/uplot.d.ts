// What is served at this address is the package, which has a default export alone.
// oxlint-disable-next-line import/no-default-export
export { default } from "uplot";
