/** A program whose every part prints on purpose, after stdout was kept for a protocol. */

import { denoTerminal } from "../../src/host/terminal.ts";

denoTerminal.reserveStdout();
console.log("log");
console.info("info");
console.debug("debug");
console.table([{ a: 1 }]);
console.dir({ b: 2 });
console.dirxml({ c: 3 });
console.group("group");
console.groupEnd();
console.groupCollapsed("collapsed");
console.groupEnd();
console.count("count");
console.countReset("count");
console.time("time");
console.timeLog("time");
console.timeEnd("time");
console.trace("trace");
console.warn("warn");
console.error("error");
Promise.reject(new Error("forgotten"));
setTimeout(() => {
  throw new Error("thrown");
});
await new Promise((resolve) => setTimeout(resolve, 1));
await denoTerminal.stdout.write(new TextEncoder().encode("protocol\n"));
