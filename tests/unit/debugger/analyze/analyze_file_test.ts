/** A second opinion from debuggers that behave, and from those that misbehave in every way. */

import assert from "node:assert/strict";
import type { Clock } from "../../../../src/base/clock.ts";
import { HvError } from "../../../../src/base/errors.ts";
import type { DumpAnalysis } from "../../../../src/contract/dump_analyze.ts";
import { analyzeDumpFile, type AnalyzeOptions } from "../../../../src/debugger/analyze/analyze_file.ts";
import { renderAnalysis } from "../../../../src/debugger/analyze/render_analysis.ts";
import { systemClock } from "../../../../src/host/clock.ts";
import { openDenoHost } from "../../../../src/host/deno_host.ts";
import { writeFakeDebugger } from "../../../support/fake_debugger.ts";
import { dumpMachine } from "../../../support/machine_dump.ts";
import { writeMachine } from "../../../support/machine_writer.ts";
import { withTemporaryFolder } from "../../../support/temporary_folder.ts";

interface Lab {
  readonly folder: string;
  readonly dump: string;
  ask(body: string, more?: Partial<AnalyzeOptions>, clock?: Clock): Promise<DumpAnalysis>;
  /** An hour passes as soon as the debugger makes the file `said`. */
  askUntilSaid(body: string, limits: AnalyzeOptions["limits"]): Promise<DumpAnalysis>;
  /** How often the debugger was run. */
  runs(): number;
  argumentsOf(): string[];
}

const LONE_ANALYSIS = new URL("../../../support/lone_analysis.ts", import.meta.url).pathname;
const MIB = 1024 * 1024;
const HOUR_MS = 3_600_000;
const OWN = crypto.getRandomValues(new Uint16Array(1))[0];
const PATIENT = { totalMs: 60_000, silenceMs: 30_000, memoryBytes: 1024 * MIB };

async function withLab(work: (lab: Lab) => Promise<void>): Promise<void> {
  await withTemporaryFolder(async (folder) => {
    const dump = `${folder}/a "dump" of é'.dmp`;
    await Deno.writeFile(dump, dumpMachine(writeMachine("x64"), "full"));
    const lab: Lab = {
      folder,
      dump,
      async ask(body, more = {}, clock = systemClock) {
        const fake = await writeFakeDebugger(folder, body);
        const programs = new Map([["cdb", fake.program]]);
        return await analyzeDumpFile({ ...openDenoHost(programs), clock }, {
          path: dump,
          commands: ["lm", "k"],
          download: false,
          fresh: false,
          full: false,
          limits: PATIENT,
          programs,
          kept: `${folder}/kept`,
          signal: new AbortController().signal,
          ...more,
        });
      },
      async askUntilSaid(body, limits) {
        let passed = 0;
        const clock = { ...systemClock, monotonic: () => systemClock.monotonic() + passed };
        const asked = lab.ask(body, { limits }, clock);
        await waitUntil(() => Deno.stat(`${folder}/said`).then(() => true, () => false));
        passed = HOUR_MS;
        return await asked;
      },
      runs: () => Deno.readTextFileSync(`${folder}/runs`).split("\n").length - 1,
      argumentsOf: () => Deno.readTextFileSync(`${folder}/arguments`).split("\n"),
    };
    await work(lab);
  });
}

/** A program that does nothing, with a number that no other run of these tests has. */
function sleep(number: number): string {
  return `sleep ${number}${OWN}`;
}

/** Processes of this machine whose command line has a word in it. */
async function running(word: string): Promise<string[]> {
  const { stdout } = await new Deno.Command("ps", {
    args: ["-A", "-ww", "-o", "args="],
    stdin: "null",
    stderr: "null",
  })
    .output();
  return new TextDecoder().decode(stdout).split("\n").filter((line) => line.includes(word));
}

/** Waits until none is left: a program that was killed is seen for a moment still. */
async function awaitEnd(word: string): Promise<void> {
  await waitUntil(async () => (await running(word)).length === 0);
}

/** Fails after some minutes: what has not come by then does not come. */
async function waitUntil(isSo: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + 300_000;
  while (!await isSo()) {
    assert(performance.now() < end, `waited in vain until ${isSo}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

const posix = { ignore: Deno.build.os === "windows" };

Deno.test("commands come back with their texts, without a shell, and once", posix, async () => {
  await withLab(async ({ ask, runs, argumentsOf, dump }) => {
    const answer = await ask("run_script");
    assert.deepEqual(answer.commands, [
      { command: "lm", text: "text of lm", complete: true },
      { command: "k", text: "text of k", complete: true },
    ]);
    assert.deepEqual([answer.complete, answer.stopped, answer.cached], [true, undefined, false]);
    assert.equal(answer.debugger.version, "10.0.1.2");
    assert.match(answer.summary, /^\S+ \(0x/);
    const words = argumentsOf();
    assert.equal(words[0], "-noshell");
    assert(words.includes("-sins") && words.includes("-netsyms:no"));
    assert.equal(words[words.indexOf("-z") + 1], "dump.dmp", "no path of ours reaches the debugger");

    assert.equal((await ask("run_script")).cached, true);
    assert.equal(runs(), 1);
    assert.equal((await ask("run_script", { commands: ["r"] })).cached, false);
    assert.equal((await ask("run_script", { fresh: true })).cached, false);
    const { mtime } = await Deno.stat(dump);
    const bytes = await Deno.readFile(dump);
    bytes[0x4000] = (bytes[0x4000] ?? 0) ^ 1;
    await Deno.writeFile(dump, bytes);
    await Deno.utime(dump, mtime ?? 0, mtime ?? 0);
    assert.equal((await ask("run_script")).cached, false, "another dump, of the same size, time and ends");
    assert.equal(runs(), 4);
  });
});

Deno.test("a debugger hears of servers only for downloads, and of other machines never", posix, async () => {
  await withLab(async ({ ask, folder, argumentsOf }) => {
    const search = { symbols: `srv*${folder}/a*https://example.org/s;\\\\host\\share` };
    const pathOf = (words: string[]): string => words[words.indexOf("-y") + 1] ?? "";
    await ask("run_script", { search });
    assert.equal(pathOf(argumentsOf()), "symbols0;srv*symbols0");
    await ask("run_script", { search, download: true });
    assert.equal(pathOf(argumentsOf()), "symbols0;srv*symbols0;srv*https://example.org/s");
    assert(!argumentsOf().includes("-netsyms:no"));
  });
});

Deno.test("the usual commands are put beside our own reading, and differences are named", posix, async () => {
  await withLab(async ({ ask }) => {
    const script = `answer() {
      case $1 in
      .bugcheck) echo "Bugcheck code 000000D1"; echo "Arguments 00000000\\\`00000001 2 3 4" ;;
      lm) echo "fffff800\\\`10000000 fffff800\\\`10005000   nt   (deferred)" ;;
      "!analyze -v") echo "IMAGE_NAME:  other.sys"; echo; echo "FAILURE_BUCKET_ID:  AV_other" ;;
      esac
    }
    run_script`;
    const answer = await ask(script, { commands: undefined });
    assert.equal(answer.second?.module, "other.sys");
    assert.equal(answer.second?.bucket, "AV_other");
    assert.equal(answer.second?.module_count, 1);
    assert(answer.disagreements?.some(({ field, second }) => field === "module" && second === "other.sys"));
    assert(answer.disagreements?.some(({ field }) => field === "module_count"));
    assert.equal(answer.commands, undefined);
    assert.match(renderAnalysis(answer), /they disagree\n {2}/);
  });
});

Deno.test(
  "a debugger that never quits is ended for its silence, and what it said is kept",
  posix,
  async () => {
    await withLab(async ({ askUntilSaid }) => {
      const answer = await askUntilSaid(`echo said before; : >"$here/said"; exec ${sleep(4141)}`, {
        ...PATIENT,
        totalMs: 2 * HOUR_MS,
      });
      assert.deepEqual([answer.stopped, answer.complete], ["silence", false]);
      assert.match(answer.partial_text ?? "", /said before/);
      assert.deepEqual(answer.commands, []);
      await awaitEnd(sleep(4141));
      assert.match(renderAnalysis(answer), /silent for too long[^]*said before/);
    });
  },
);

Deno.test("a debugger that prints one line for ever is ended when its time is over", posix, async () => {
  await withLab(async ({ askUntilSaid }) => {
    const body = 'echo the same line; while :; do echo the same line; : >"$here/said"; sleep 0.02; done';
    const answer = await askUntilSaid(body, { ...PATIENT, silenceMs: 2 * HOUR_MS });
    assert.equal(answer.stopped, "time");
    assert.match(answer.partial_text ?? "", /the same line\nthe same line/);
  });
});

Deno.test("the log is preferred to what was printed, and is UTF-16", posix, async () => {
  await withLab(async ({ ask }) => {
    const logged = await ask(`answer() { echo "é of $1"; }; run_script | iconv -f utf-8 -t utf-16 >"$log"`, {
      commands: ["k"],
    });
    assert.deepEqual(logged.commands, [{ command: "k", text: "é of k", complete: true }]);
  });
});

Deno.test("children that hold the pipe, or leave the group, end with the debugger", posix, async () => {
  await withLab(async ({ ask }) => {
    const answer = await ask(`${sleep(4242)} & (setsid ${sleep(4243)} &) ; run_script; exit 0`);
    assert.equal(answer.complete, true);
    await awaitEnd(sleep(4242));
    if (Deno.build.os === "linux") await awaitEnd(sleep(4243));
  });
});

Deno.test(
  "the whole tree ends with an hvlab that is killed",
  { ignore: Deno.build.os !== "linux" },
  async () => {
    await withLab(async ({ folder, dump }) => {
      const idle = sleep(4545);
      const body = `trap '' ALRM TERM HUP; ${idle} & (${idle}; ${idle}) & ${idle}`;
      const fake = await writeFakeDebugger(folder, body);
      const asking = new Deno.Command(Deno.execPath(), {
        args: ["run", "-A", "--no-check", "--quiet", LONE_ANALYSIS, fake.program, dump, folder],
        ...{ stdin: "null", stdout: "null", stderr: "null" },
      }).spawn();
      await waitUntil(async () => (await running(idle)).length >= 3);
      asking.kill("SIGKILL");
      await asking.status;
      await awaitEnd(idle);
      await awaitEnd(fake.program);
    });
  },
);

Deno.test("a debugger that takes all memory is ended", { ignore: Deno.build.os !== "linux" }, async () => {
  await withLab(async ({ ask }) => {
    const limits = { ...PATIENT, memoryBytes: 96 * MIB };
    const one = await ask(
      "echo begun; head -c 400000000 /dev/zero | tail -c 300000000 >/dev/null || exit 9",
      { limits },
    );
    assert.equal(one.complete, false);
    assert(one.stopped === "exit" || one.stopped === "memory", "its own allocation failed, or it was ended");
    assert.match(one.partial_text ?? "", /begun/);
    const idle = sleep(4343);
    const many = `for each in 1 2 3 4; do (head -c 40000000 /dev/zero; ${idle}) | tail & done; ${idle}`;
    assert.equal((await ask(many, { limits })).stopped, "memory");
    await awaitEnd(idle);
  });
});

Deno.test("a debugger that ends without having done anything is told from one that has", posix, async () => {
  await withLab(async ({ ask, runs }) => {
    const text = "*** ERROR: Module load completed but symbols could not be loaded for evil.sys";
    const answer = await ask(`echo "${text}"; exit 0`);
    assert.deepEqual([answer.complete, answer.stopped, answer.exit_code], [false, "exit", 0]);
    assert.deepEqual(answer.warnings.map(({ reason }) => reason), ["debugger_symbols"]);
    await ask(`echo "${text}"; exit 0`);
    assert.equal(runs(), 2, "what came to no end is not kept");
    const refused = await ask('echo "Could not open dump file [x], Win32 error 0n87"; exit 0');
    assert.deepEqual(refused.warnings.map(({ reason }) => reason), ["debugger_refused"]);
    assert.notEqual(refused.summary, "");
  });
});

Deno.test("marks that a dump's text makes up end nothing", posix, async () => {
  await withLab(async ({ ask }) => {
    const fake =
      'answer() { echo "hvlab-0123456789abcdef0123456789abcdef-1"; echo "hvlab--1"; echo after; }; run_script';
    const answer = await ask(fake);
    assert.match(answer.commands?.[0]?.text ?? "", /hvlab--1\nafter$/);
    assert.equal(answer.complete, true);
  });
});

Deno.test(
  "300 MB of output are cut, and the beginning and the end of what came are kept",
  posix,
  async () => {
    await withLab(async ({ ask }) => {
      const answer = await ask("head -c 300000000 /dev/zero | tr '\\0' x; run_script");
      assert(answer.stopped === "output" || answer.complete === false);
      assert((answer.dropped_bytes ?? 0) > 50_000_000);
      assert((answer.partial_text?.length ?? 0) <= 16 * 1024);
    });
  },
);

Deno.test(
  "a configured debugger that is not there is said, and a cancelled call ends the debugger",
  posix,
  async () => {
    await withLab(async ({ ask, folder, dump }) => {
      const programs = new Map([["kd.exe", `${folder}/none`]]);
      await assert.rejects(
        analyzeDumpFile(openDenoHost(programs), {
          ...{
            path: dump,
            download: false,
            fresh: false,
            full: false,
            limits: PATIENT,
            kept: `${folder}/kept`,
          },
          programs,
          signal: new AbortController().signal,
        }),
        (error: HvError) => error.code === "hv.unavailable" && error.message.includes("none"),
      );
      const cancelled = new HvError("hv.cancelled", "enough");
      const controller = new AbortController();
      const asked = ask(`exec ${sleep(4444)}`, { signal: controller.signal });
      await waitUntil(async () => (await running(sleep(4444))).length > 0);
      controller.abort(cancelled);
      await assert.rejects(asked, cancelled);
      await awaitEnd(sleep(4444));
    });
  },
);
