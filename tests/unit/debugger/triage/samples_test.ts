/** What triage says of the samples: culprits, buckets, missing symbols, and answers for damaged files. */

import assert from "node:assert/strict";
import { encode } from "gpt-tokenizer/encoding/o200k_base";
import type { DumpTriage } from "../../../../src/contract/dump_triage.ts";
import { HvError } from "../../../../src/base/errors.ts";
import { MemorySource } from "../../../../src/dump/bytes.ts";
import { openDump } from "../../../../src/dump/open.ts";
import { namedRegisters } from "../../../../src/dump/windows/context.ts";
import { renderTriage } from "../../../../src/debugger/triage/render.ts";
import { findStack } from "../../../../src/debugger/triage/stack.ts";
import { triageDumpFile } from "../../../../src/debugger/triage/triage_file.ts";
import { SymbolFiles } from "../../../../src/debugger/symbols/symbol_files.ts";
import { denoFiles } from "../../../../src/host/files.ts";
import { asList, asNumbers, asObject, readExpected } from "../../../support/expected_values.ts";
import { hasSample, readSample, samplePath } from "../../../support/shared_samples.ts";
import { StepClock } from "../../../support/step_clock.ts";
import { withTemporaryFolder } from "../../../support/temporary_folder.ts";

const SYNTHETIC = "dumps/synthetic/manifest.json";
const TRIAGE_X64 = "dumps/kernel/no-licence-stated/triage_x64.dmp";
const TRIAGE_ARM64 = "dumps/kernel/no-licence-stated/triage_arm64.dmp";

function triage(path: string, options: { full?: boolean; symbols?: string } = {}): Promise<DumpTriage> {
  return triageDumpFile(denoFiles, new StepClock(), { path, full: false, ...options });
}

/** Frames of the x64 sample that unwinding with its images gives, as a public test suite records them. */
const RECORDED_X64 = [
  ["0xfffff8048b58313f", "0xffff850429892150"],
  ["0xfffff8048b583234", "0xffff850429892180"],
  ["0xfffff8048b5a0e8f", "0xffff8504298921b0"],
  ["0xfffff8048b5a83f6", "0xffff850429892210"],
  ["0xfffff8048b59f852", "0xffff850429892340"],
  ["0xfffff804799cc027", "0xffff850429892380"],
  ["0xfffff80479966f81", "0xffff8504298923d0"],
  ["0xfffff804799cb227", "0xffff850429892410"],
  ["0xfffff804799c9e21", "0xffff850429892460"],
  ["0xfffff804799c99da", "0xffff8504298924a0"],
  ["0xfffff804799cb6b1", "0xffff850429892530"],
] as const;

Deno.test({
  name: "the real x64 sample: amdppm.sys without any symbols, with the frames that dispatch left behind",
  ignore: !hasSample(TRIAGE_X64),
  async fn() {
    const answer = await triage(samplePath(TRIAGE_X64), { full: true });
    assert.deepEqual(answer.culprit, {
      module: "amdppm.sys",
      offset: "0x334c",
      pdb: "amdppm.pdb 1C19FDDB27BB3399D9B45973EFEAFCF31",
      confidence: "high",
      rule: "bugcheck_argument",
      evidence: "argument 2 of the bug check is an address in it",
    });
    assert.equal(answer.bucket, "7e_amdppm.sys+334c");
    assert.equal(answer.exception?.code, "0xc0000005");
    assert.equal(answer.exception?.access, "write");
    assert.equal(answer.exception?.access_address, "0xffffffffffffffff");
    assert.equal(answer.exception?.origin, "bugcheck_record");
    assert.deepEqual(answer.process, { name: "System", id: 4 });
    assert.equal(answer.module_count, 151);
    assert.equal(answer.context?.origin, "bugcheck_context");
    assert.equal(answer.stack[0]?.address, "0xfffff8048b58334c");
    assert.equal(answer.stack_end, "no_unwind_data");
    // A word lies where the call left it, right below the stack pointer of the frame that it returns to.
    const words = answer.scanned?.slice(0, RECORDED_X64.length)
      .map(({ address, sp, how }) => [address, `0x${(BigInt(sp ?? 0) + 8n).toString(16)}`, how]);
    assert.deepEqual(words, RECORDED_X64.map((frame) => [...frame, "dispatch"]));
    assert(
      answer.missing_symbols.some(({ url_path }) =>
        url_path === "amdppm.pdb/1C19FDDB27BB3399D9B45973EFEAFCF31/amdppm.pdb"
      ),
    );
    assert(answer.missing_symbols.some(({ key }) => key === "C9C030003b000"));
  },
});

Deno.test({
  name: "the real ARM64 sample: the power button, no driver, and the recorded frames by frame pointers",
  ignore: !hasSample(TRIAGE_ARM64),
  async fn() {
    const answer = await triage(samplePath(TRIAGE_ARM64), { full: true });
    assert.equal(answer.culprit, null);
    assert.match(answer.summary, /power button was held for 7000 ms/);
    assert.equal(answer.bucket, "1c8_none");
    assert.deepEqual(answer.stack.map(({ offset, sp, how }) => [offset, sp, how]), [
      ["0x4de014", "0xffffe00e0e4bc4a0", "context"],
      ["0x5442a0", "0xffffe00e0e4bc4b0", "frame_pointer"],
      ["0x29ff1c", "0xffffe00e0e4bcb20", "frame_pointer"],
      ["0x373340", "0xffffe00e0e4bcce0", "frame_pointer"],
      ["0x207de4", "0xffffe00e0e4bcd40", "frame_pointer"],
    ]);
    assert.equal(answer.stack_end, "bottom");
  },
});

Deno.test({
  name: "culprits of the made machine",
  ignore: !hasSample(SYNTHETIC),
  async fn() {
    const blamed = async (name: string) => {
      const { culprit, bucket } = await triage(samplePath(`dumps/synthetic/${name}`));
      return [culprit?.module, culprit?.offset, culprit?.confidence, culprit?.rule, bucket];
    };
    assert.deepEqual(await blamed("full64.dmp"), [
      "evil.sys",
      "0x10ec",
      "high",
      "bugcheck_argument",
      "d1_evil.sys+10ec",
    ]);
    assert.deepEqual(await blamed("bitmap6-9f.dmp"), [
      "evil.sys",
      undefined,
      "high",
      "device_stack",
      "9f.3_evil.sys",
    ]);
    assert.deepEqual(await blamed("bitmap6-ce-unloaded.dmp"), [
      "gone.sys",
      "0x1234",
      "high",
      "bugcheck_argument",
      "ce_gone.sys+1234",
    ]);
    assert.deepEqual((await blamed("bitmap6-7e.dmp"))[4], "7e_evil.sys+10ec");
    assert.deepEqual(await blamed("triage-arm64.dmp"), [
      "evilarm64.sys",
      "0x114c",
      "medium",
      "stack",
      "e2_evilarm64.sys",
    ]);
  },
});

Deno.test({
  name: "a bucket is the same with and without symbols, and so is the answer's shape",
  ignore: !hasSample(SYNTHETIC),
  async fn() {
    const names = Array.from(Deno.readDirSync(samplePath("dumps/synthetic")), ({ name }) => name);
    for (const name of names.filter((each) => each.endsWith(".dmp"))) {
      const path = samplePath(`dumps/synthetic/${name}`);
      const [plain, named] = [
        await triage(path),
        await triage(path, { symbols: samplePath("dumps/made/symbols") }),
      ];
      assert.equal(named.bucket, plain.bucket, name);
      assert.equal(named.culprit?.module, plain.culprit?.module, name);
    }
  },
});

/** Registers that a call keeps, which unwinding has to bring back. */
const KEPT: Readonly<Record<string, ReadonlySet<string>>> = {
  "full64.dmp": new Set("rip rsp rbx rbp rsi rdi r12 r13 r14 r15".split(" ")),
  "triage-arm64.dmp": new Set([
    "pc",
    "sp",
    "fp",
    ...Array.from({ length: 10 }, (_, index) => `x${index + 19}`),
  ]),
};

for (const [name, kept] of Object.entries(KEPT)) {
  Deno.test({
    name: `registers of every frame of ${name} are the engine's`,
    ignore: !hasSample(SYNTHETIC),
    async fn() {
      const session = openDump(new MemorySource(readSample(`dumps/synthetic/${name}`)));
      const { frames } = await findStack(session, new SymbolFiles(session, null));
      const engine = asObject(asObject(asObject(readExpected(SYNTHETIC)["files"])[name])["engine"]);
      const expected = asList(engine["frames_with_symbols"]).map(asObject).filter(({ inline }) =>
        inline !== true
      );
      assert.equal(frames.length, expected.length);
      let compared = 0;
      for (const [index, frame] of frames.entries()) {
        const registers = asNumbers(expected[index]?.["registers"]);
        for (const [register, value] of namedRegisters(frame.registers)) {
          const wanted = registers.get(register);
          if (wanted === undefined || !kept.has(register)) continue;
          assert.equal(value, wanted, `frame ${index}: ${register}`);
          compared++;
        }
      }
      assert(compared > frames.length * 4, `${compared} registers`);
    },
  });
}

const USER = [
  ["user/bsd-3-clause/minidump2.dmp", "0xc0000005", "write", "test_app.exe"],
  ["user/bsd-3-clause/write_av_non_canonical.dmp", "0xc0000005", "read", undefined],
  ["user/mit/invalid-parameter.dmp", "0xc000000d", undefined, "CrashTest.exe"],
] as const;

for (const [name, code, access, module] of USER) {
  Deno.test({
    name: `a program's dump: ${name}`,
    ignore: !hasSample(`dumps/${name}`),
    async fn() {
      const answer = await triage(samplePath(`dumps/${name}`));
      assert.equal(answer.exception?.code, code);
      assert.equal(answer.exception?.access, access);
      if (module !== undefined) assert.equal(answer.culprit?.module, module);
      assert.equal(answer.bugcheck, undefined);
      assert.match(renderTriage(answer), /^STATUS_/);
    },
  });
}

Deno.test({
  name: "a program that did not crash blames nobody",
  ignore: !hasSample("dumps/user/bsd-3-clause/tiny-exe-with-cet-xsave.dmp"),
  async fn() {
    const answer = await triage(samplePath("dumps/user/bsd-3-clause/tiny-exe-with-cet-xsave.dmp"));
    assert.equal(answer.culprit, null);
    assert.equal(answer.exception, null);
    assert.match(answer.summary, /^No exception recorded/);
  },
});

const FUZZED = [
  "dumps/synthetic/triage64-images.dmp",
  "dumps/synthetic/triage-arm64.dmp",
  "dumps/synthetic/full32-pae.dmp",
  "dumps/made/user/crash-small.dmp",
];

for (const name of FUZZED) {
  Deno.test({
    name: `damage of ${name} gives an answer or a coded failure`,
    ignore: !hasSample(name),
    fn: () =>
      withTemporaryFolder(async (folder) => {
        const whole = readSample(name);
        const path = `${folder}/damaged.dmp`;
        let answered = 0;
        const attempt = async (bytes: Uint8Array, what: string) => {
          await Deno.writeFile(path, bytes);
          try {
            const answer = await triage(path, { symbols: samplePath("dumps/made/symbols"), full: true });
            assert(answer.stack.length <= 512, what);
            renderTriage(answer);
            answered++;
          } catch (thrown) {
            assert(thrown instanceof HvError && thrown.code === "hv.bad_dump", `${what}: ${thrown}`);
          }
        };
        // A fixed walk over the file instead of chance, so that a failure comes back.
        for (let round = 0; round < 150; round++) {
          const bytes = whole.slice();
          for (let hit = 0; hit < 1 + round % 7; hit++) {
            const at = ((round * 7919 + hit * 104_729) * 31) % bytes.length;
            bytes[at] = (round * 37 + hit * 11) & 0xFF;
          }
          await attempt(bytes, `round ${round}`);
        }
        for (let cut = 0; cut < 24; cut++) {
          await attempt(whole.slice(0, Math.floor(whole.length * cut / 24)), `cut ${cut}`);
        }
        assert(answered > 50, `${answered} answers`);
      }),
  });
}

for (
  const name of [
    "full_trunc",
    "run_overflow",
    "bmp_bits_huge",
    "rdmp_countmax",
    "runs_max",
    "zero",
    "h100",
    "type41",
  ]
) {
  const path = `dumps/hostile/${name}.dmp`;
  Deno.test({
    name: `hostile ${name}.dmp`,
    ignore: !hasSample(path),
    async fn() {
      try {
        const answer = await triage(samplePath(path));
        assert.equal(answer.stack_frames >= 0, true);
      } catch (thrown) {
        assert(thrown instanceof HvError && thrown.code === "hv.bad_dump", String(thrown));
      }
    },
  });
}

Deno.test({
  name: "every short answer fits into 1,500 tokens, with symbols too",
  ignore: !hasSample(SYNTHETIC) || !hasSample(TRIAGE_X64),
  async fn() {
    const names = [
      TRIAGE_X64,
      TRIAGE_ARM64,
      ...["full64", "triage64", "bitmap6-7e", "bitmap6-9f", "triage-arm64", "full32-pae"]
        .map((name) => `dumps/synthetic/${name}.dmp`),
      "dumps/made/user/crash-small.dmp",
      "dumps/user/bsd-3-clause/stack_exhaustion.dmp",
      "dumps/user/no-licence-stated/calc.dmp",
    ];
    for (const name of names.filter(hasSample)) {
      for (const options of [{}, { symbols: samplePath("dumps/made/symbols") }]) {
        const answer = await triage(samplePath(name), options);
        const tokens = encode(JSON.stringify(answer)).length;
        assert(tokens <= 1500, `${name}: ${tokens} tokens`);
      }
    }
  },
});

Deno.test({
  name: "a dump of an acquisition tool blames nobody",
  ignore: !hasSample("dumps/kernel/gpl-2.0/dumpit-full-header-16k.dmp"),
  async fn() {
    const answer = await triage(samplePath("dumps/kernel/gpl-2.0/dumpit-full-header-16k.dmp"));
    assert.equal(answer.culprit, null);
    assert.match(answer.summary, /taken by the acquisition tool DumpIt/);
    assert(answer.warnings.some(({ reason }) => reason === "truncated"));
  },
});

const FULL64 = "dumps/synthetic/full64.dmp";
Deno.test({
  name: "families of stops change what a stack is worth",
  ignore: !hasSample(FULL64),
  async fn() {
    await withTemporaryFolder(async (folder) => {
      const path = `${folder}/changed.dmp`;
      const bytes = readSample(FULL64);
      const verdicts: [
        code: number,
        rule: string | undefined,
        confidence: string | undefined,
        bucket: string,
      ][] = [
        [0xC4, "verifier", "high", "c4_evil.sys"],
        [0x19, "corruption", "low", "19_evil.sys"],
        [0xE2, "stack", "medium", "e2_evil.sys"],
        [0x124, undefined, undefined, "124_none"],
        [0x1000009C, undefined, undefined, "9c_none"],
      ];
      for (const [code, rule, confidence, bucket] of verdicts) {
        new DataView(bytes.buffer).setUint32(0x38, code, true);
        await Deno.writeFile(path, bytes);
        const answer = await triage(path);
        assert.deepEqual([answer.culprit?.rule, answer.culprit?.confidence, answer.bucket], [
          rule,
          confidence,
          bucket,
        ]);
      }
    });
  },
});

const NAMED_THREADS = "dumps/user/bsd-3-clause/thread_name_list.dmp";
Deno.test({
  name: "every thread of a process has its stack and its name in the full answer",
  ignore: !hasSample(NAMED_THREADS),
  async fn() {
    const { threads = [], thread } = await triage(samplePath(NAMED_THREADS), { full: true });
    assert.equal((await triage(samplePath(NAMED_THREADS))).threads, undefined);
    assert(threads.every(({ id }) => id !== thread?.id), "the thread that crashed is the answer's own");
    const named = threads.find(({ name }) => name === "main thread");
    assert.deepEqual(named?.stack.slice(0, 3).map(({ module, offset, how }) => [module, offset, how]), [
      ["ntdll.dll", "0x706ac", "context"],
      ["KERNELBASE.dll", "0x1186b2", "frame_pointer"],
      ["allocer32.exe", "0x183b", "frame_pointer"],
    ]);
    assert(threads.some(({ name }) => name === "sleep thread"));
    assert.equal(new Set(threads.map(({ id }) => id)).size, threads.length);
  },
});

const CRASHPAD = "dumps/user/mit/simple-crashpad.dmp";
Deno.test({
  name: "a crash reporter's dump of another system names the signal, and blames none of its own libraries",
  ignore: !hasSample(CRASHPAD),
  async fn() {
    const { exception, culprit, summary } = await triage(samplePath(CRASHPAD));
    assert.deepEqual([exception?.code, exception?.name, culprit?.module], [
      "0x00000000",
      "SIGABRT",
      "crashy",
    ]);
    assert.match(summary, /^SIGABRT/);
  },
});
