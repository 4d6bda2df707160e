/** Every user-mode sample against what the real debugger engine showed for it. */

import assert from "node:assert/strict";
import { MemorySource } from "../../../src/dump/bytes.ts";
import { HvError } from "../../../src/base/errors.ts";
import { openDump } from "../../../src/dump/open.ts";
import type { UserSession } from "../../../src/dump/session.ts";
import { namedRegisters } from "../../../src/dump/windows/context.ts";
import {
  asList,
  asNumber,
  asNumbers,
  asObject,
  debuggerOutput,
  hexBytes,
  printedMemory,
  printedModules,
  printedRegisters,
  readExpected,
} from "../../support/expected_values.ts";
import { hasSample, readSample, samplePath } from "../../support/shared_samples.ts";

const MADE = "dumps/made/manifest.json";
const FOLDERS = ["made/user", "user/bsd-3-clause", "user/mit", "user/no-licence-stated"];

function open(name: string): UserSession {
  const session = openDump(new MemorySource(readSample(name)));
  assert(session.mode === "user");
  return session;
}

/** Samples by their path below the folder of dumps. */
function samples(): string[] {
  return FOLDERS.filter((folder) => hasSample(`dumps/${folder}`)).flatMap((folder) =>
    [...Deno.readDirSync(samplePath(`dumps/${folder}`))].map(({ name }) => `${folder}/${name}`)
  ).sort();
}

/** Those that the debugger opened, with what it printed. */
function opened(): [name: string, session: UserSession, output: ReadonlyMap<string, string>][] {
  return samples().flatMap((name) => {
    const output = debuggerOutput(name);
    return output === null || output.size === 0 ? [] : [[name, open(`dumps/${name}`), output]];
  });
}

function sortedRanges(ranges: readonly (readonly [bigint, bigint])[]): string[] {
  return ranges.map(([start, end]) => `${start.toString(16)}-${end.toString(16)}`).sort();
}

const there = { ignore: samples().length === 0 };

Deno.test({
  name: "modules of the minidumps are those of the debugger",
  ...there,
  fn() {
    let compared = 0;
    for (const [name, session, output] of opened()) {
      const printed = printedModules(output.get("lm") ?? "");
      const loaded = session.modules.all.map((
        { base, size },
      ): [bigint, bigint] => [base, base + BigInt(size)]);
      assert.deepEqual(sortedRanges(loaded), sortedRanges(printed.loaded), name);
      const unloaded = session.unloaded.map(({ start, end }): [bigint, bigint] => [start, end]);
      assert.deepEqual(sortedRanges(unloaded), sortedRanges(printed.unloaded), name);
      compared++;
    }
    assert(compared >= 15, `${compared} samples`);
  },
});

Deno.test({
  name: "threads of the minidumps are those of the debugger",
  ...there,
  fn() {
    for (const [name, session, output] of opened()) {
      const printed = [...(output.get("~") ?? "").matchAll(
        /Id: [0-9a-f]+\.([0-9a-f]+) Suspend: (-?\d+) Teb: ([0-9a-f`]+) \w+(?: "(.*)")?/g,
      )].map(([, id = "", suspended, teb = "", thread]) => ({
        id: Number.parseInt(id, 16),
        suspended: Number(suspended),
        teb: BigInt(`0x${teb.replace("`", "")}`),
        name: thread ?? null,
      }));
      const found = session.threads.map((each) => ({
        id: each.id,
        suspended: each.suspendCount,
        teb: each.teb,
        name: each.name,
      }));
      assert.deepEqual(found, printed, name);
    }
  },
});

Deno.test({
  name: "registers of the minidumps are those of the debugger",
  ...there,
  fn() {
    let compared = 0;
    for (const [name, session, output] of opened()) {
      const [best] = session.contexts;
      const printed = printedRegisters(output.get("r") ?? "");
      if (best === undefined || printed.size === 0) continue;
      for (const [register, value] of namedRegisters(best.registers)) {
        if (printed.has(register)) assert.equal(value, printed.get(register), `${name}: ${register}`);
      }
      compared++;
    }
    assert(compared >= 12, `${compared} samples`);
  },
});

Deno.test({
  name: "exceptions of the minidumps are those of the debugger",
  ...there,
  fn() {
    for (const [name, { exception, bits }, output] of opened()) {
      const text = output.get(".exr -1") ?? "";
      const number = (pattern: RegExp) => {
        const digits = pattern.exec(text)?.[1];
        return digits === undefined ? null : BigInt(`0x${digits}`);
      };
      if (exception === null) {
        // The debugger invents a breakpoint at address 0 where none was recorded.
        assert.equal(number(/ExceptionCode: ([0-9a-f]+)/) ?? 0x80000003n, 0x80000003n, name);
        continue;
      }
      assert.equal(BigInt(exception.code), number(/ExceptionCode: ([0-9a-f]+)/), name);
      const address = number(/ExceptionAddress: ([0-9a-f]+)/);
      assert.equal(BigInt.asUintN(bits, exception.address), address, name);
      assert.equal(BigInt(exception.flags), number(/ExceptionFlags: ([0-9a-f]+)/), name);
      const parameters = [...text.matchAll(/Parameter\[\d+\]: ([0-9a-f]+)/g)].map(([, digits]) =>
        BigInt(`0x${digits}`)
      );
      assert.deepEqual(exception.parameters.map((value) => BigInt.asUintN(bits, value)), parameters, name);
    }
  },
});

Deno.test({
  name: "memory of the minidumps reads as in the debugger",
  ...there,
  fn() {
    for (const [name, { memory }, output] of opened()) {
      for (const [command, text] of output) {
        if (!/^d[qb] /.test(command)) continue;
        for (const { address, bytes } of printedMemory(text)) {
          assert.equal(
            hexBytes(memory.readUpTo(address, bytes.length / 2).bytes),
            bytes,
            `${name}: ${command}`,
          );
        }
      }
    }
  },
});

Deno.test({
  name: "the made minidumps start from the exception, whose thread was already writing the dump",
  ignore: !hasSample(MADE),
  fn() {
    for (const [name, file] of Object.entries(asObject(readExpected(MADE)["files"]))) {
      const session = open(`dumps/made/user/${name}`);
      const expected = asNumbers(asObject(file)["registers_at_exception"]);
      const [best] = session.contexts;
      assert(best !== undefined);
      assert.equal(best.origin, expected.size === 0 ? "thread" : "exception", name);
      for (const [register, value] of namedRegisters(best.registers)) {
        if (expected.has(register)) assert.equal(value, expected.get(register), `${name}: ${register}`);
      }
      const ranges = asList(asObject(file)["modules"]).map((each): [bigint, bigint] => {
        const [, start, end] = asList(each);
        return [asNumber(start), asNumber(end)];
      });
      const found = session.modules.all.map((
        { base, size },
      ): [bigint, bigint] => [base, base + BigInt(size)]);
      assert.deepEqual(sortedRanges(found), sortedRanges(ranges), name);
      // The stack of the exception's context is in the dump.
      assert(session.memory.read(best.registers.stackPointer, 64) !== undefined, name);
      assert.deepEqual(session.warnings, [], name);
    }
    const crash = open("dumps/made/user/crash-small.dmp");
    assert.deepEqual(crash.modules.at(0x14000179Cn)?.codeView, {
      format: "RSDS",
      id: "ECC80517EE06C7744C4C44205044422E",
      age: 1,
      path: "crash.pdb",
      name: "crash.pdb",
    });
    assert.equal(crash.processId, 0x108);
  },
});

Deno.test({
  name: "damaged minidumps are refused with a reason or opened with warnings",
  ...there,
  fn() {
    const outcome = (name: string): string => {
      try {
        const session = open(`dumps/user/${name}`);
        const seen = [session.modules, session.threads, session.memory, session.exception, session.unloaded];
        assert.equal(seen.length, 5);
        return [...new Set(session.warnings.map(({ reason }) => reason))].join(",");
      } catch (thrown) {
        assert(thrown instanceof HvError && thrown.code === "hv.bad_dump", String(thrown));
        return `refused: ${thrown.context["reason"]}`;
      }
    };
    assert.equal(outcome("mit/invalid-range.dmp"), "refused: stream_directory");
    assert.equal(outcome("mit/invalid-record-count.dmp"), "refused: stream_directory");
    assert.equal(outcome("no-licence-stated/trunc_memory64.dmp"), "refused: stream_missing");
    assert.match(outcome("no-licence-stated/mdmp-dos.mdmp"), /^refused: /);
    assert.match(outcome("no-licence-stated/npe_r_mdmp.c-364_1.mdmp"), /^refused: /);
    assert.match(outcome("no-licence-stated/npe_w_bin_mdmp.c-111_1.mdmp"), /^refused: /);
  },
});
