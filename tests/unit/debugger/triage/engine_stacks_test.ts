/** Stacks of the made dumps against those that the real debugger engine printed. */

import assert from "node:assert/strict";
import type { JsonObject, JsonValue } from "../../../../src/base/json.ts";
import type { DumpTriage } from "../../../../src/contract/dump_triage.ts";
import { triageDumpFile } from "../../../../src/debugger/triage/triage_file.ts";
import { denoFiles } from "../../../../src/host/files.ts";
import { asList, asNumber, asObject, asText, readExpected } from "../../../support/expected_values.ts";
import { hasSample, samplePath } from "../../../support/shared_samples.ts";
import { StepClock } from "../../../support/step_clock.ts";

const SYNTHETIC = "dumps/synthetic/manifest.json";
const MADE = "dumps/made/manifest.json";
const STORE = "dumps/made/symbols";

function triage(name: string, symbols?: string): Promise<DumpTriage> {
  return triageDumpFile(denoFiles, new StepClock(), {
    path: samplePath(name),
    full: true,
    ...(symbols === undefined ? {} : { symbols: samplePath(symbols) }),
  });
}

/** A frame as the engine prints it: `nt!Name+0x1f`, `evil+0x10ec`, `<Unloaded_gone.sys>+0x1234`. */
function siteOf(frame: DumpTriage["stack"][number], kernel: string | null): string {
  const unloaded = /^<unloaded (.+)>$/.exec(frame.module ?? "")?.[1];
  if (unloaded !== undefined) return `<Unloaded_${unloaded}>+${frame.offset}`;
  const file = frame.module ?? "";
  const module = file === kernel ? "nt" : file.replace(/\.\w+$/, "");
  if (frame.symbol === undefined) return `${module}+${frame.offset}`;
  return `${module}!${frame.symbol}${frame.displacement === undefined ? "" : `+${frame.displacement}`}`;
}

function engineFrame(value: JsonValue | undefined): JsonObject {
  return asObject(value);
}

/** Compares whole stacks: place, inline frames, lines, and stack pointers (32-bit ones are frame pointers there). */
function assertStack(
  answer: DumpTriage,
  expected: readonly JsonValue[],
  what: string,
  kernel: string | null,
): void {
  assert.deepEqual(
    answer.stack.map((frame) => siteOf(frame, kernel)),
    expected.map((frame) => asText(engineFrame(frame)["site"])),
    what,
  );
  for (const [index, value] of expected.entries()) {
    const frame = engineFrame(value);
    const ours = answer.stack[index];
    const source = frame["file"] === undefined || frame["file"] === null
      ? undefined
      : `${asText(frame["file"])}:${frame["line"]}`;
    assert.equal(ours?.source, source, `${what}: line of frame ${index}`);
    if (frame["inline"] === true) assert.equal(ours?.how, "inline", what);
    else if (answer.machine !== "x86") {
      assert.equal(BigInt(ours?.sp ?? 0), asNumber(frame["sp"]), `${what}: ${index}`);
    }
  }
}

function engineOf(manifest: JsonObject, name: string): JsonObject {
  return asObject(asObject(asObject(manifest["files"])[name])["engine"]);
}

/** Where our stack begins, as the manifest names it; the encoded one is like the plain one once it is decoded. */
const BEGINNINGS: readonly [file: string, plain: string | null, named: string, like?: string][] = [
  ["full64.dmp", "frames", "frames_with_symbols"],
  ["summary2-64.dmp", "frames", "frames_with_symbols"],
  ["bitmap5-fdmp-aligned.dmp", "frames", "frames_with_symbols"],
  ["bitmap6-sdmp-unaligned.dmp", "frames", "frames_with_symbols"],
  ["rdmp8.dmp", "frames", "frames_with_symbols"],
  ["rdmp9.dmp", "frames", "frames_with_symbols"],
  ["rdmpa.dmp", "frames", "frames_with_symbols"],
  ["triage64-images.dmp", "frames", "frames_with_symbols"],
  ["triage64.dmp", null, "frames_with_symbols"],
  ["full64-kdbg-encoded.dmp", null, "frames_with_symbols", "full64.dmp"],
  ["bitmap6-7e.dmp", null, "frames_from_fault_context"],
  ["bitmap6-9f.dmp", "frames_processor_1", "frames_processor_1_with_symbols"],
  ["bitmap6-ce-unloaded.dmp", "frames_processor_1", "frames_processor_1_with_symbols"],
  ["triage-arm64.dmp", "frames", "frames_with_symbols"],
  ["full32-pae.dmp", "frames", "frames_with_symbols"],
  ["summary2-32.dmp", "frames", "frames_with_symbols"],
];

for (const [file, plain, named, like] of BEGINNINGS) {
  Deno.test({
    name: `the stack of ${file} is the engine's`,
    ignore: !hasSample(SYNTHETIC),
    async fn() {
      const engine = engineOf(readExpected(SYNTHETIC), like ?? file);
      const kernel = file.includes("32") ? "ntkrnlpa.exe" : "ntoskrnl.exe";
      if (plain !== null) {
        const answer = await triage(`dumps/synthetic/${file}`);
        assertStack(answer, asList(engine[plain]), `${file} without symbols`, kernel);
        assert.equal(answer.stack_end, "bottom");
      }
      const answer = await triage(`dumps/synthetic/${file}`, STORE);
      assertStack(answer, asList(engine[named]), `${file} with symbols`, kernel);
      assert.equal(answer.stack_end, "bottom");
      assert.deepEqual(answer.missing_symbols, []);
    },
  });
}

Deno.test({
  name: "a packed store gives the same names as a plain one",
  ignore: !hasSample(SYNTHETIC),
  async fn() {
    const plain = await triage("dumps/synthetic/triage64.dmp", STORE);
    const packed = await triage("dumps/synthetic/triage64.dmp", "dumps/made/symbols-packed");
    assert.deepEqual(packed.stack, plain.stack);
    assert(packed.stack.every(({ symbol }) => symbol !== undefined));
  },
});

Deno.test({
  name: "all containers of one machine give one answer",
  ignore: !hasSample(SYNTHETIC),
  async fn() {
    const names = BEGINNINGS.slice(0, 8).map(([file]) => file);
    const [first, ...others] = await Promise.all(names.map(async (name) => {
      const { path: _path, dump_kind: _kind, time: _time, uptime_s: _uptime, processor, ...answer } =
        await triage(
          `dumps/synthetic/${name}`,
        );
      return { ...answer, processor: processor?.index };
    }));
    for (const [index, other] of others.entries()) assert.deepEqual(other, first, names[index + 1]);
  },
});

for (const file of ["crash-small.dmp", "crash-full-trimmed.dmp", "crash-arm64.dmp"]) {
  Deno.test({
    name: `the program's own frames of ${file} are the engine's`,
    ignore: !hasSample(MADE),
    async fn() {
      const answer = await triage(`dumps/made/user/${file}`, STORE);
      const expected = asList(asObject(asObject(readExpected(MADE)["files"])[file])["frames_exception"])
        .filter((frame) => asText(engineFrame(frame)["site"]).startsWith("crash"));
      const own = answer.stack.filter(({ module }) => module?.startsWith("crash"));
      assertStack({ ...answer, stack: own }, expected, file, null);
      assert.equal(answer.culprit?.symbol, "FrLeaf");
      assert.equal(answer.culprit?.confidence, "high");
    },
  });
}
