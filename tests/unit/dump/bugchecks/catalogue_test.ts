import assert from "node:assert/strict";
import {
  type BugcheckDescription,
  chooseName,
  describeArguments,
  describeBugcheck,
  type DescribeOptions,
  findBugcheck,
  listBugchecks,
} from "../../../../src/dump/bugchecks/catalogue.ts";

const CRASH = { live: false };
const LIVE = { live: true };

const shared = Deno.env.get("HVLAB_SHARED") ?? new URL("../../../../../shared", import.meta.url).pathname;
const factsFile = `${shared}/facts/dumps.md`;

async function describe(code: number, options: DescribeOptions): Promise<BugcheckDescription> {
  return describeBugcheck(await findBugcheck(code), options);
}

async function explain(code: number, args: readonly (bigint | null)[]): Promise<(string | null)[]> {
  return describeArguments(await findBugcheck(code), args);
}

Deno.test("the catalogue has every code of both published tables, once", async () => {
  const bugchecks = [...(await listBugchecks()).values()];
  assert.equal(bugchecks.length, 425);
  assert.equal(bugchecks.filter((bugcheck) => bugcheck.name !== null).length, 379);
  assert.equal(bugchecks.filter((bugcheck) => bugcheck.liveName !== null).length, 51);
});

Deno.test("names, descriptions and references keep their form", async () => {
  for (const { code, description, liveDescription, name, liveName } of (await listBugchecks()).values()) {
    for (const anyName of [name, liveName]) assert.match(anyName ?? "NONE", /^[A-Z0-9_]+$/);
    for (const line of [description, liveDescription]) {
      assert.match(line, /^[A-Z][^\n]*[^.\s]$/, `0x${code.toString(16)}`);
      assert.ok(line.length <= 160, `${line.length} characters: ${line}`);
    }
    assert.match(
      (await describe(code, CRASH)).reference ?? "",
      /^https:\/\/learn\.microsoft\.com\/windows-hardware\/drivers\/debugger\/bug-check-0x[0-9a-f]+-[a-z0-9-]+$/,
    );
  }
});

Deno.test("no argument text is empty, long or ends with a full stop", async () => {
  for (const bugcheck of (await listBugchecks()).values()) {
    const texts = [bugcheck.arguments, ...bugcheck.variants.map((variant) => variant.arguments)]
      .flatMap((four) => four.map((argument) => argument.text))
      .concat(bugcheck.values.map((value) => value.text));
    for (const text of texts) {
      if (text === null) continue;
      assert.match(text, /^[A-Z][^\n|$=]*[^.\s]$/, `0x${bugcheck.code.toString(16)}`);
      assert.ok(text.length <= 160, text);
    }
  }
});

Deno.test("well-known codes have their names", async () => {
  const names: [number, string][] = [
    [0xA, "IRQL_NOT_LESS_OR_EQUAL"],
    [0x1A, "MEMORY_MANAGEMENT"],
    [0x3B, "SYSTEM_SERVICE_EXCEPTION"],
    [0x50, "PAGE_FAULT_IN_NONPAGED_AREA"],
    [0x7B, "INACCESSIBLE_BOOT_DEVICE"],
    [0x7E, "SYSTEM_THREAD_EXCEPTION_NOT_HANDLED"],
    [0x9F, "DRIVER_POWER_STATE_FAILURE"],
    [0xC4, "DRIVER_VERIFIER_DETECTED_VIOLATION"],
    [0xD1, "DRIVER_IRQL_NOT_LESS_OR_EQUAL"],
    [0xEF, "CRITICAL_PROCESS_DIED"],
    [0x116, "VIDEO_TDR_FAILURE"],
    [0x124, "WHEA_UNCORRECTABLE_ERROR"],
    [0x139, "KERNEL_SECURITY_CHECK_FAILURE"],
    [0x170, "CLUSTER_CSV_CLUSSVC_DISCONNECT_WATCHDOG"],
    [0x1CA, "SYNTHETIC_WATCHDOG_TIMEOUT"],
    [0x1000007E, "SYSTEM_THREAD_EXCEPTION_NOT_HANDLED_M"],
    [0xC000021A, "WINLOGON_FATAL_ERROR"],
    [0xDEADDEAD, "MANUALLY_INITIATED_CRASH1"],
  ];
  for (const [code, name] of names) assert.equal((await describe(code, CRASH)).name, name);
});

Deno.test("a description comes with its reference and the general meaning of the arguments", async () => {
  assert.deepEqual(await describe(0xD1, CRASH), {
    name: "DRIVER_IRQL_NOT_LESS_OR_EQUAL",
    description:
      "A driver touched pageable or invalid memory while the IRQL was too high to resolve the page fault",
    reference:
      "https://learn.microsoft.com/windows-hardware/drivers/debugger/bug-check-0xd1--driver-irql-not-less-or-equal",
    arguments: [
      "Address that was referenced",
      "IRQL at the time of the reference",
      "Kind of access",
      "Instruction that made the reference",
    ],
  });
});

Deno.test("a page whose name does not follow the rule keeps its own", async () => {
  assert.match((await describe(0x133, CRASH)).reference ?? "", /\/bug-check-0x133-dpc-watchdog-violation$/);
  assert.match(
    (await describe(0x124, CRASH)).reference ?? "",
    /\/bug-check-0x124---whea-uncorrectable-error$/,
  );
});

Deno.test("the bit of small dumps is dropped when the exact code has no entry", async () => {
  assert.equal((await describe(0x100000D1, CRASH)).name, "DRIVER_IRQL_NOT_LESS_OR_EQUAL");
  assert.equal((await explain(0x100000D1, [0n, 2n, 1n, 0n]))[2], "Kind of access: write");
  assert.equal((await describe(0xDEADDEAD, CRASH)).name, "MANUALLY_INITIATED_CRASH1");
});

Deno.test("a code that is not in the catalogue gives nulls", async () => {
  for (const code of [0, 0x5454414D, 0x10000000, 0x1FFFFFFF, 0xFFFFFFFF]) {
    assert.deepEqual(await describe(code, LIVE), {
      name: null,
      description: null,
      reference: null,
      arguments: [null, null, null, null],
    });
    assert.deepEqual(await explain(code, [1n, 2n, 3n, 4n]), [null, null, null, null]);
  }
});

Deno.test("the live option chooses the name and the description of the live dump", async () => {
  assert.equal(chooseName({ name: "CRASHED", liveName: "WENT_ON" }, LIVE), "WENT_ON");
  assert.equal(chooseName({ name: "CRASHED", liveName: "WENT_ON" }, CRASH), "CRASHED");
  assert.equal(chooseName({ name: "CRASHED", liveName: null }, LIVE), "CRASHED");
  assert.equal((await describe(0x161, CRASH)).name, "LIVE_SYSTEM_DUMP");
  assert.match((await describe(0x117, LIVE)).description ?? "", /the system went on$/);
  assert.doesNotMatch((await describe(0x117, CRASH)).description ?? "", /the system went on/);
});

Deno.test("argument 1 chooses among the meanings of a code", async () => {
  assert.deepEqual(await explain(0x9F, [3n, 4n, 5n, 6n]), [
    "Kind of violation: device has been holding a power IRP too long",
    "Physical device object of the stack",
    "TRIAGE_9F_POWER block (before Windows 7 the functional device object)",
    "IRP being held",
  ]);
  assert.equal((await explain(0x9F, [4n, 4n, 5n, 6n]))[1], "Timeout in seconds");
  assert.equal((await explain(0xC4, [0x62n, 0n, 0n, 0n]))[3], "Allocations left");
  assert.equal(
    (await explain(0xC4, [0x20005n, 0n, 0n, 0n]))[0],
    "Kind of violation: driver broke a driver interface rule",
  );
  assert.equal((await explain(0x1A, [0x41792n, 0n, 0n, 0n]))[1], "Address of the page table entry");
  assert.equal((await explain(0x124, [4n, 0n, 0n, 0n]))[0], "Source of the error: PCI Express");
  assert.equal((await explain(0x133, [1n, 0n, 0n, 0n]))[1], "Watchdog period");
});

Deno.test("a value that no table explains leaves the general meaning", async () => {
  assert.deepEqual(await explain(0x9F, [0x77n, 0n, 0n, 0n]), [
    "Kind of violation",
    null,
    null,
    null,
  ]);
  assert.equal((await explain(0x139, [63n, 0n, 0n, 0n]))[0], "Kind of corruption");
});

Deno.test("0x7A takes argument 3 into account", async () => {
  const third = async (first: bigint, value: bigint): Promise<string | null> =>
    (await explain(0x7A, [first, 0n, value, 0n]))[2] ?? null;
  assert.equal(await third(1n, 9n), "Current process");
  assert.equal(await third(3n, 0n), "Zero");
  assert.equal(await third(3n, 9n), "Address of the in-page support structure");
  assert.equal(await third(0xFFFFF6FC40001234n, 9n), "Contents of the page table entry");
  assert.equal((await explain(0x7A, [3n, 0n, 0n, 0n]))[0], "Lock type 3");
});

Deno.test("a later argument can choose the meanings too", async () => {
  assert.deepEqual(await explain(0xC1, [0n, 0n, 0n, 0x30n]), [
    "Current IRQL",
    "Pool type",
    "Bytes requested",
    "Kind of violation: allocated at a wrong IRQL",
  ]);
});

Deno.test("kinds of access and of corruption are told by value", async () => {
  assert.equal((await explain(0xA, [0n, 2n, 0n, 0n]))[2], "Kind of access: read");
  assert.equal((await explain(0xA, [0n, 2n, 8n, 0n]))[2], "Kind of access: execute");
  assert.equal((await explain(0x50, [0n, 0x10n, 0n, 0n]))[1], "Kind of access: execute");
  assert.equal((await explain(0xEF, [0n, 1n, 0n, 0n]))[1], "What died: thread");
  assert.equal(
    (await explain(0x139, [3n, 0n, 0n, 0n]))[0],
    "Kind of corruption: list entry corrupted, as by a double remove",
  );
});

Deno.test("an NTSTATUS argument is named, sign-extended or not", async () => {
  const expected =
    "Exception code: STATUS_ACCESS_VIOLATION (memory was accessed that is not there or not allowed)";
  for (const code of [0x7E, 0x8E, 0x1E, 0x3B, 0x1000007E]) {
    assert.equal((await explain(code, [0xFFFFFFFFC0000005n, 0n, 0n, 0n]))[0], expected);
    assert.equal((await explain(code, [0xC0000005n, 0n, 0n, 0n]))[0], expected);
  }
  assert.equal(
    (await explain(0x3B, [0x12345678C0000005n, 0n, 0n, 0n]))[0],
    "Exception code",
    "a value that is no sign-extended status has no name",
  );
});

Deno.test("missing arguments still give four entries", async () => {
  assert.deepEqual(await explain(0xEF, []), [
    "Process object",
    "What died",
    "Reserved",
    "Reserved",
  ]);
});

Deno.test({
  name: "codes and names equal the published tables",
  ignore: !exists(factsFile),
  fn: async () => {
    const facts = Deno.readTextFileSync(factsFile);
    const published = (title: string): [number, string][] => {
      const line = facts.split("\n").find((text) => text.startsWith(`**${title}`)) ?? "";
      return [...line.matchAll(/0x([0-9A-F]+) ([A-Z0-9_]+)/g)].map(([, code = "", name = ""]) => [
        parseInt(code, 16),
        name,
      ]);
    };
    const all = [...(await listBugchecks()).values()];
    const ours = (field: "name" | "liveName"): [number, string][] =>
      all.flatMap((bugcheck) => {
        const name = bugcheck[field];
        return name === null ? [] : [[bugcheck.code, name]];
      });
    const byCode = (left: [number, string], right: [number, string]): number => left[0] - right[0];
    assert.deepEqual(ours("name").sort(byCode), published("Main table (379 codes)").sort(byCode));
    assert.deepEqual(ours("liveName").sort(byCode), published("Live dump table (51 codes)").sort(byCode));
  },
});

function exists(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

Deno.test("a code read alone says what the whole catalogue says of it", async () => {
  for (const [code, bugcheck] of await listBugchecks()) {
    const { name, description, arguments: meanings } = await describe(code, { live: false });
    assert.equal(name, chooseName(bugcheck, { live: false }));
    assert.equal(description, bugcheck.description);
    assert.deepEqual(meanings, bugcheck.arguments.map(({ text }) => text));
  }
});
