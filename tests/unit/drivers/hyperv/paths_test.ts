import assert from "node:assert/strict";
import { HvError } from "../../../../src/base/errors.ts";
import { fullNewPath, fullPath } from "../../../../src/drivers/hyperv/paths.ts";
import { denoFiles } from "../../../../src/host/files.ts";

/** A Windows host that works in the folder. */
function windowsIn(folder: string): Parameters<typeof fullPath>[0] {
  return { os: "windows", files: { ...denoFiles, realPath: () => Promise.resolve(folder) } };
}

Deno.test("the sidecar gets whole paths, however they were written", async () => {
  for (
    const [folder, path, full] of [
      ["D:\\w", "a.vhdx", "D:\\w\\a.vhdx"],
      ["D:\\w", "D:/b/../a.vhdx", "D:\\a.vhdx"],
      ["D:\\w", "\\a.vhdx", "D:\\a.vhdx"],
      ["D:\\w", "//server/share/a.vhdx", "\\\\server\\share\\a.vhdx"],
      ["\\\\server\\share\\w", "/a.vhdx", "\\\\server\\share\\a.vhdx"],
    ] as const
  ) {
    assert.equal(await fullPath(windowsIn(folder), path), full);
  }
});

Deno.test("a drive without a root is refused, and the hint says how to write it", async () => {
  await assert.rejects(
    () => fullPath(windowsIn("D:\\w"), "C:a.vhdx"),
    (error) =>
      error instanceof HvError && error.code === "hv.usage" && /C:\\FOLDER\\a\.vhdx/.test(error.hint ?? ""),
  );
});

Deno.test("what Windows cannot name is not made, and can still be named where it is there", async () => {
  const host = windowsIn("D:\\w");
  for (const path of ["NUL", "D:\\x\\aux.vhdx", "a.", "a ", "b\\a:b.vhdx", "a?.vhdx"]) {
    await assert.rejects(
      () => fullNewPath(host, path),
      (error) => error instanceof HvError && error.code === "hv.usage",
      path,
    );
    await fullPath(host, path);
  }
  assert.equal(await fullNewPath(host, "out\\"), "D:\\w\\out");
});
