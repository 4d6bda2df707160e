import assert from "node:assert/strict";
import { win32 } from "node:path";
import { HvError } from "../../../src/base/errors.ts";
import { DEFAULT_CONFIG } from "../../../src/config/config.ts";
import { openDenoHost } from "../../../src/host/deno_host.ts";
import type { Host } from "../../../src/host/host.ts";
import { checkWrite } from "../../../src/tools/policy.ts";

const real = openDenoHost();
/** A Windows host that works in C:\\out, and on which every folder is there. */
const host: Host = {
  ...real,
  os: "windows",
  files: {
    ...real.files,
    stat: () =>
      Promise.resolve({
        kind: "folder",
        size_bytes: 0,
        allocated_bytes: null,
        modified: null,
        owner: null,
        mode: null,
      }),
    realPath: (path) => Promise.resolve(win32.resolve("C:\\out", path)),
  },
};
const config = { ...DEFAULT_CONFIG, policy: { ...DEFAULT_CONFIG.policy, folders: ["C:\\out"] } };

Deno.test("on Windows no way of writing a path leads out of the allowed folders", async () => {
  for (
    const good of [
      "a.txt",
      "sub\\a.txt",
      "C:\\out\\a.txt",
      "C:/out/sub\\a.txt",
      "\\out\\a.txt",
      "C:\\out\\",
      "C:/out/",
      "C:\\out\\.",
      "sub\\..",
      ".",
    ]
  ) {
    await checkWrite(config, host, "mcp", good);
  }
  for (
    const bad of [
      "..\\a.txt",
      "sub\\..\\..\\a.txt",
      "sub/..\\..\\a.txt",
      "/out/..\\a.txt",
      "\\Windows\\a.txt",
      "..",
      "C:\\",
      "sub\\..\\..",
      "\\\\server\\share\\a.txt",
      "//server/share/a.txt",
      "C:/out/../a.txt",
    ]
  ) {
    await assert.rejects(
      () => checkWrite(config, host, "mcp", bad),
      (error) => error instanceof HvError && error.code === "hv.policy_denied",
      bad,
    );
  }
  for (const rootless of ["C:a.txt", "D:sub\\a.txt", "C:"]) {
    await assert.rejects(
      () => checkWrite(config, host, "mcp", rootless),
      (error) => error instanceof HvError && error.code === "hv.usage",
      rootless,
    );
  }
});
