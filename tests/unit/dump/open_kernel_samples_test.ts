/** Every kernel sample against what the real debugger engine showed for it. */

import assert from "node:assert/strict";
import type { JsonObject } from "../../../src/base/json.ts";
import { MemorySource } from "../../../src/dump/bytes.ts";
import { isAbsence } from "../../../src/dump/memory/absence.ts";
import { openDump } from "../../../src/dump/open.ts";
import type { KernelSession } from "../../../src/dump/session.ts";
import { namedRegisters, type RegisterContext } from "../../../src/dump/windows/context.ts";
import {
  asList,
  asNumber,
  asNumbers,
  asObject,
  asText,
  debuggerOutput,
  hexBytes,
  printedMemory,
  printedModules,
  printedRegisters,
  readExpected,
} from "../../support/expected_values.ts";
import { hasSample, readSample } from "../../support/shared_samples.ts";

const SYNTHETIC = "dumps/synthetic/manifest.json";
const EXPECTED = "dumps/expected-kernel.json";
const TRIAGE_X64 = "dumps/kernel/no-licence-stated/triage_x64.dmp";
const TRIAGE_ARM64 = "dumps/kernel/no-licence-stated/triage_arm64.dmp";

function open(name: string): KernelSession {
  const session = openDump(new MemorySource(readSample(name)));
  assert(session.mode === "kernel");
  return session;
}

function syntheticFiles(): [name: string, file: JsonObject, machine: JsonObject, session: KernelSession][] {
  const manifest = readExpected(SYNTHETIC);
  return Object.entries(asObject(manifest["files"])).map(([name, file]) => [
    name,
    asObject(file),
    asObject(manifest[asText(asObject(file)["machine"])]),
    open(`dumps/synthetic/${name}`),
  ]);
}

/** Compares the registers that both sides name. */
function assertRegisters(
  context: RegisterContext | undefined,
  expected: Map<string, bigint>,
  what: string,
): void {
  assert(context, `${what}: no context`);
  const found = new Map(namedRegisters(context));
  const names = [...found.keys()].filter((name) => expected.has(name));
  assert(names.length >= 8, `${what}: ${names.length} registers to compare`);
  for (const name of names) assert.equal(found.get(name), expected.get(name), `${what}: ${name}`);
}

Deno.test({
  name: "memory of the made kernel dumps reads as in the debugger",
  ignore: !hasSample(SYNTHETIC),
  fn() {
    let compared = 0;
    for (const [name, file, machine, { memory }] of syntheticFiles()) {
      const engine = asObject(file["engine"]);
      if (engine["reads_agree"] === undefined) continue;
      const differing = asObject(engine["reads_differ"]);
      for (const [address, bytes] of Object.entries(asObject(machine["reads"]))) {
        const expected = address in differing ? differing[address] : bytes;
        assert.equal(hexBytes(memory.read(BigInt(address), 16)), expected, `${name}: ${address}`);
        compared++;
      }
    }
    assert(compared > 150, `${compared} reads`);
  },
});

Deno.test({
  name: "addresses of the made machine translate as its maker says",
  ignore: !hasSample(SYNTHETIC),
  fn() {
    const { memory } = open("dumps/synthetic/bitmap5-fdmp-aligned.dmp");
    const place = (address: bigint) => memory.translate(address);
    const physical = (address: bigint) => {
      const found = place(address);
      return isAbsence(found) ? found.why : [found.physical, found.through, found.fileOffset === null];
    };
    assert.deepEqual(physical(0xFFFFF80010003000n), [0x16000n, "page", false]);
    assert.deepEqual(physical(0xFFFFF800200010ECn), [0x2010ECn, "large_page", false]);
    assert.deepEqual(physical(0xFFFFA00000010000n), [0x4A000n, "transition", false]);
    assert.deepEqual(place(0xFFFFA00000020000n), { why: "not_mapped", level: 1 });
    assert.deepEqual(physical(0xFFFFF80020100000n), [0x300000n, "large_page", true]);
    assert.deepEqual(memory.segment(0xFFFFF80020100000n, 32), {
      bytes: null,
      absence: { why: "not_in_dump", frame: 0x300 },
      length: 32,
    });
    assert.deepEqual(place(0x0000800000000000n), { why: "not_canonical" });
  },
});

Deno.test({
  name: "modules of the made kernel dumps equal what was put in",
  ignore: !hasSample(SYNTHETIC),
  fn() {
    for (const [name, file, machine, session] of syntheticFiles()) {
      const expected = asList(machine["modules"]).map((each) => {
        const module = asObject(each);
        const pdb = asObject(module["pdb"]);
        return [
          asText(module["path"]),
          asNumber(module["base"]),
          asNumber(module["size"]),
          asNumber(module["timestamp"]),
          asNumber(module["checksum"]),
          `${asText(pdb["pdb"])} ${asText(pdb["guid"])} ${asNumber(pdb["age"])}`,
        ];
      });
      const found = session.modules.all.map((module) => {
        const code = session.codeViewOf(module);
        return [
          module.path,
          module.base,
          BigInt(module.size),
          BigInt(module.timeDateStamp ?? 0),
          BigInt(module.checkSum ?? 0),
          code === null ? null : `${code.name} ${code.id} ${code.age}`,
        ];
      });
      // The smallest dump has the identity of the faulting driver only.
      const [kernel] = found;
      if (name === "triage64.dmp" && kernel !== undefined) kernel[5] = expected[0]?.[5] ?? null;
      assert.deepEqual(found, expected, name);
      assert.equal(session.modules.truncated, false);

      const shown = asList(asObject(file["engine"])["modules"]).map((each) => asText(asList(each)[0]));
      const unloaded = session.unloaded.map((each) => each.name);
      assert.deepEqual(unloaded, shown.filter((each) => each === "gone.sys"), name);
    }
    const [gone] = open("dumps/synthetic/summary2-64.dmp").unloaded;
    assert(gone !== undefined);
    assert.deepEqual([gone.start, gone.end], [0xFFFFF80030000000n, 0xFFFFF80030008000n]);
  },
});

Deno.test({
  name: "registers of the made kernel dumps equal the debugger's",
  ignore: !hasSample(SYNTHETIC),
  fn() {
    for (const [name, file, , session] of syntheticFiles()) {
      const engine = asObject(file["engine"]);
      const expected = asNumbers(engine["registers_processor_1"] ?? engine["registers"]);
      if (name === "full64-kdbg-encoded.dmp") assert.equal(expected.size, 0);
      else {
        const context = session.contexts.find(({ origin }) => origin === "processor");
        assertRegisters(context?.registers, expected, name);
      }
    }
  },
});

Deno.test({
  name: "bug check, processor, thread and process of the made kernel dumps are found",
  ignore: !hasSample(SYNTHETIC),
  fn() {
    for (const [name, file, machine, session] of syntheticFiles()) {
      if (name === "full64-kdbg-encoded.dmp") continue;
      const variants = machine["variants"] === undefined ? {} : asObject(machine["variants"]);
      const crash = name in variants ? asObject(variants[name]) : machine;
      assert.equal(BigInt(session.bugCheck?.code ?? 0), asNumber(crash["bugcheck"]), name);
      assert.deepEqual(session.bugCheck?.parameters, asList(crash["args"]).map(asNumber), name);
      assert.equal(session.bugCheck?.confirmed, true, name);

      const number = Number(asNumber(machine["crashing_processor"] ?? 0));
      const prcb = Array.isArray(machine["prcb"]) ? machine["prcb"][number] : machine["prcb"];
      const thread = Array.isArray(machine["thread"]) ? machine["thread"][number] : machine["thread"];
      assert.equal(session.crashed?.processor.prcb, asNumber(prcb), name);
      assert.equal(session.thread?.address, asNumber(thread), name);
      assert.equal(session.process?.address, asNumber(machine["process"]), name);
      assert.equal(session.process?.id, 4, name);
      assert.equal(session.process?.imageName, "System", name);
      assert.deepEqual(session.warnings, [], name);
      assert.match(session.buildLab ?? "", /^\d+\.\d+\.(?:amd64|x86|arm64)fre\./, name);
      assert(session.machine !== "x64" || session.thread?.processId === 4, name);
      assert.equal(file["engine"] !== undefined, true);
    }
  },
});

Deno.test({
  name: "the processor that crashed is told in the ways that each dump allows",
  ignore: !hasSample(SYNTHETIC),
  fn() {
    const by = (name: string) => open(`dumps/synthetic/${name}`).crashed?.by;
    assert.equal(by("full64.dmp"), "stack_pointer");
    assert.equal(by("bitmap6-7e.dmp"), "stack_range");
    assert.equal(by("triage64.dmp"), "triage_copy");
    assert.equal(by("full32-pae.dmp"), "only_one");
  },
});

Deno.test({
  name: "a 0x7E dump starts from the exception and not from the bug check call",
  ignore: !hasSample(SYNTHETIC),
  fn() {
    const session = open("dumps/synthetic/bitmap6-7e.dmp");
    const manifest = asObject(readExpected(SYNTHETIC)["files"]);
    const expected = asNumbers(
      asObject(asObject(manifest["bitmap6-7e.dmp"])["engine"])["registers_at_fault"],
    );
    assert.deepEqual(session.contexts.map(({ origin }) => origin), [
      "bugcheck_context",
      "processor",
      "header",
    ]);
    assertRegisters(session.contexts[0]?.registers, expected, "fault");
    const { exception } = session;
    assert(exception !== null);
    assert.deepEqual(
      [exception.code, exception.address, exception.parameters, exception.origin, exception.synthetic],
      [0xC0000005, 0xFFFFF800200010ECn, [0n, 0xFFFFA00000DEADB0n], "bugcheck_record", false],
    );
    assert.equal(open("dumps/synthetic/full64.dmp").exception?.synthetic, true);
  },
});

Deno.test({
  name: "a scrambled debugger data block is decoded once symbols have told where the keys lie",
  ignore: !hasSample(SYNTHETIC),
  fn() {
    const session = open("dumps/synthetic/full64-kdbg-encoded.dmp");
    assert.equal(session.debuggerData, null);
    assert.equal(session.debuggerDataProblem, "kdbg_encoded");
    assert.deepEqual(session.warnings.map(({ reason }) => reason), ["kdbg_encoded"]);
    assert.deepEqual(session.processors, []);
    assert.equal(session.modules.all.length, 2, "the header tells where the list begins");

    const variables = {
      waitNever: 0xFFFFF80010003610n,
      waitAlways: 0xFFFFF80010003618n,
      dataBlockEncoded: 0xFFFFF80010003620n,
    };
    const decoded = session.decodeWith(variables);
    const plain = open("dumps/synthetic/full64.dmp");
    assert.equal(decoded.debuggerData?.decoded, true);
    assert.deepEqual(decoded.processors, plain.processors);
    assert.deepEqual(decoded.contexts, plain.contexts);
    assert.deepEqual(decoded.unloaded, plain.unloaded);
    assert.deepEqual(decoded.thread, plain.thread);
    assert.deepEqual(decoded.warnings, []);

    const wrong = session.decodeWith({ ...variables, dataBlockEncoded: 0xFFFFF80010003628n });
    assert.equal(wrong.debuggerDataProblem, "kdbg_encoded");
  },
});

for (const name of [TRIAGE_X64, TRIAGE_ARM64]) {
  Deno.test({
    name: `drivers of ${name.slice(name.lastIndexOf("/") + 1)} equal the debugger's list`,
    ignore: !hasSample(name) || !hasSample(EXPECTED),
    fn() {
      const session = open(name);
      const expected = asObject(readExpected(EXPECTED)[name.slice("dumps/".length)]);
      const drivers = asList(expected["drivers"]).map((row) => {
        const [path, ...numbers] = asList(row);
        return [asText(path), ...numbers.map(asNumber)];
      });
      const found = session.modules.all.map(({ path, base, size, checkSum, timeDateStamp }) => [
        path,
        base,
        BigInt(size),
        BigInt(checkSum ?? 0),
        BigInt(timeDateStamp ?? 0),
      ]);
      assert.deepEqual(found, drivers);

      const output = debuggerOutput(name.slice("dumps/".length));
      assert(output !== null);
      const printed = printedModules(output.get("lm") ?? "");
      const sorted = (pairs: (readonly [bigint, bigint])[]) =>
        pairs.map(([start, end]) => `${start.toString(16)}-${end.toString(16)}`).sort();
      assert.deepEqual(
        sorted(session.modules.all.map(({ base, size }) => [base, base + BigInt(size)])),
        sorted(printed.loaded),
      );
      const unloaded = session.unloaded.map(({ start, end }): [bigint, bigint] => [start, end]);
      assert.deepEqual(sorted(unloaded), sorted(printed.unloaded));
      assertRegisters(
        session.contexts.find(({ origin }) => origin === "processor")?.registers,
        printedRegisters(output.get("r") ?? ""),
        name,
      );
      assert.deepEqual(session.warnings, []);
    },
  });

  Deno.test({
    name: `memory of ${name.slice(name.lastIndexOf("/") + 1)} reads as in the debugger`,
    ignore: !hasSample(name),
    fn() {
      const { memory } = open(name);
      const output = debuggerOutput(name.slice("dumps/".length));
      assert(output !== null);
      let compared = 0;
      for (const [command, text] of output) {
        if (!/^d[qb] /.test(command)) continue;
        for (const { address, bytes } of printedMemory(text)) {
          const length = bytes.length / 2;
          assert.equal(
            hexBytes(memory.readUpTo(address, length).bytes),
            bytes,
            `${command}: ${address.toString(16)}`,
          );
          compared += length;
        }
      }
      assert(compared > 500, `${compared} bytes`);
    },
  });
}

Deno.test({
  name: "the real x64 triage dump tells the exception, the thread and the symbol file of the faulting driver",
  ignore: !hasSample(TRIAGE_X64),
  fn() {
    const session = open(TRIAGE_X64);
    assert.equal(session.exception?.code, 0xC0000005);
    assert.equal(session.exception?.address, 0xFFFFF8048B58334Cn);
    assert.deepEqual(session.exception?.parameters, [1n, 0xFFFFFFFFFFFFFFFFn]);
    const [start] = session.contexts;
    assert.equal(start?.origin, "bugcheck_context");
    assert.equal(start?.registers.programCounter, 0xFFFFF8048B58334Cn);
    assert.equal(start?.registers.stackPointer, 0xFFFF850429892120n);
    const output = debuggerOutput(TRIAGE_X64.slice("dumps/".length));
    const printed = output?.get(".cxr ffff850429891720");
    assert(printed !== undefined);
    assertRegisters(start?.registers, printedRegisters(printed), ".cxr");

    const driver = session.modules.at(0xFFFFF8048B58334Cn);
    assert.equal(driver?.name, "amdppm.sys");
    assert(driver !== null && driver !== undefined);
    const { id, age, name } = session.codeViewOf(driver) ?? {};
    assert.deepEqual([id, age, name], ["1C19FDDB27BB3399D9B45973EFEAFCF3", 1, "amdppm.pdb"]);
    assert.deepEqual([session.process?.id, session.process?.imageName], [4, "System"]);
    assert.equal(session.processors.length, 16);
    assert.deepEqual([session.crashed?.processor.mhz, session.crashed?.processor.vendor], [
      3593,
      "AuthenticAMD",
    ]);
    assert.equal(session.buildLab, "19041.1.amd64fre.vb_release.191206-1406");
    assert.deepEqual([session.debuggerData?.size, session.debuggerData?.offset("prcb_size")], [
      0x380,
      0xAF00,
    ]);
    const [first] = session.contexts.filter(({ origin }) => origin === "processor");
    assert.equal(first?.registers.programCounter, 0xFFFFF8047BDF5A80n);
    assert.deepEqual(session.unloaded.map((each) => each.name), [
      "dam.sys",
      "WdBoot.sys",
      "hwpolicy.sys",
      "mcupdate.dll",
    ]);
  },
});

Deno.test({
  name: "the real ARM64 triage dump tells its processors and process",
  ignore: !hasSample(TRIAGE_ARM64),
  fn() {
    const session = open(TRIAGE_ARM64);
    assert.equal(session.exception?.synthetic, true);
    assert.deepEqual([session.process?.id, session.process?.imageName], [4, "System"]);
    assert.equal(session.crashed?.processor.mhz, 1517);
    assert.equal(session.buildLab, "22000.1.arm64fre.co_release.210604-1628");
    assert.deepEqual(
      session.unloaded.map((each) => each.name).slice(4, 8),
      ["dump_storpor", "dump_storufs", "dump_dumpfve", "WUDFRd.sys"],
    );
    assert.equal(session.debuggerData?.offset("thread_stack_base"), 0x38);
  },
});
