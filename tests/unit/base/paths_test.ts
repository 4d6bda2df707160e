import assert from "node:assert/strict";
import { posix, win32 } from "node:path";
import fc from "fast-check";
import { HvError } from "../../../src/base/errors.ts";
import {
  folderOf,
  isAbsolutePath,
  isWithin,
  joinPath,
  nameOf,
  resolvePath,
  resolveWindowsPath,
} from "../../../src/base/paths.ts";

const names = fc.array(fc.stringMatching(/^[a-z .]{1,6}$/), { minLength: 1, maxLength: 5 });

Deno.test("joinPath uses the separator of its first part", () => {
  assert.equal(joinPath("/a", "b", "c"), "/a/b/c");
  assert.equal(joinPath("/", "b"), "/b");
  assert.equal(joinPath("a/", "b"), "a/b");
  assert.equal(joinPath("C:\\a", "b"), "C:\\a\\b");
  assert.equal(joinPath("\\\\host\\share", "b"), "\\\\host\\share\\b");
});

Deno.test("a folder holds itself and what lies below it, on either system", () => {
  for (
    const [path, folder] of [["/a", "/a"], ["/a/b", "/a"], ["/a", "/"], ["C:\\a\\b", "C:\\a"], [
      "C:\\a",
      "C:\\",
    ]] as const
  ) {
    assert.ok(isWithin(path, folder), `${path} in ${folder}`);
  }
  for (
    const [path, folder] of [["/ab", "/a"], ["/", "/a"], ["C:\\ab", "C:\\a"], ["D:\\a", "C:\\"]] as const
  ) {
    assert.ok(!isWithin(path, folder), `${path} not in ${folder}`);
  }
});

Deno.test("folderOf and nameOf take a path apart", () => {
  for (
    const [path, folder, name] of [["/a/b", "/a", "b"], ["/a", "/", "a"], ["a", ".", "a"], [
      "C:\\a",
      "C:\\",
      "a",
    ]] as const
  ) {
    assert.equal(folderOf(path), folder);
    assert.equal(nameOf(path), name);
  }
});

Deno.test("isAbsolutePath knows both systems", () => {
  for (const path of ["/a", "C:\\a", "c:/a", "\\\\host\\share"]) assert.ok(isAbsolutePath(path), path);
  for (const path of ["a", "./a", "C:a", ""]) assert.ok(!isAbsolutePath(path), path);
});

Deno.test("resolvePath agrees with the system's own rules", () => {
  const part = fc.constantFrom("a", "b c", ".", "..", "é");
  fc.assert(fc.property(names, fc.array(part, { minLength: 1, maxLength: 6 }), (folder, parts) => {
    const from = `/${folder.map((name) => `x${name}x`).join("/")}`;
    assert.equal(resolvePath(from, parts.join("/")), posix.resolve(from, parts.join("/")));
    const windows = `C:\\${folder.map((name) => `x${name}x`).join("\\")}`;
    assert.equal(resolvePath(windows, parts.join("\\")), win32.resolve(windows, parts.join("\\")));
  }));
  assert.equal(resolvePath("/a", "/b/../c"), "/c");
});

Deno.test("a path of Windows is seen from a folder as Windows itself sees it", () => {
  const part = fc.constantFrom("a", "b c", ".", "..", "é");
  const separator = fc.constantFrom("\\", "/");
  const start = fc.constantFrom("", "\\", "/", "D:\\", "d:/", "\\\\host\\share\\", "//host/share/");
  const folder = fc.constantFrom("C:\\", "C:\\w\\x", "\\\\server\\share\\w");
  const parts = fc.array(fc.tuple(part, separator), { minLength: 1, maxLength: 5 });
  fc.assert(fc.property(folder, start, parts, (from, root, chosen) => {
    const path = root + chosen.flat().slice(0, -1).join("");
    assert.equal(resolveWindowsPath(from, path), win32.resolve(from, path), path);
  }));
  for (const path of ["C:", "C:a", "d:..\\a"]) {
    assert.throws(
      () => resolveWindowsPath("C:\\w", path),
      (error) => error instanceof HvError && error.code === "hv.usage",
      path,
    );
  }
});
