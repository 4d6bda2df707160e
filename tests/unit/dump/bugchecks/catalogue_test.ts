import assert from "node:assert/strict";
import {
  chooseName,
  describeArguments,
  describeBugcheck,
  listBugchecks,
} from "../../../../src/dump/bugchecks/catalogue.ts";

const CRASH = { live: false };
const LIVE = { live: true };

const shared = Deno.env.get("HVLAB_SHARED") ?? new URL("../../../../../shared", import.meta.url).pathname;
const factsFile = `${shared}/facts/dumps.md`;

Deno.test("the catalogue has every code of both published tables, once", () => {
  const bugchecks = [...listBugchecks().values()];
  assert.equal(bugchecks.length, 425);
  assert.equal(bugchecks.filter((bugcheck) => bugcheck.name !== null).length, 379);
  assert.equal(bugchecks.filter((bugcheck) => bugcheck.liveName !== null).length, 51);
});

Deno.test("names, descriptions and references keep their form", () => {
  for (const { code, description, liveDescription, name, liveName } of listBugchecks().values()) {
    for (const anyName of [name, liveName]) assert.match(anyName ?? "NONE", /^[A-Z0-9_]+$/);
    for (const line of [description, liveDescription]) {
      assert.match(line, /^[A-Z][^\n]*[^.\s]$/, `0x${code.toString(16)}`);
      assert.ok(line.length <= 160, `${line.length} characters: ${line}`);
    }
    assert.match(
      describeBugcheck(code, CRASH).reference ?? "",
      /^https:\/\/learn\.microsoft\.com\/windows-hardware\/drivers\/debugger\/bug-check-0x[0-9a-f]+-[a-z0-9-]+$/,
    );
  }
});

Deno.test("no argument text is empty, long or ends with a full stop", () => {
  for (const bugcheck of listBugchecks().values()) {
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

Deno.test("well-known codes have their names", () => {
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
  for (const [code, name] of names) assert.equal(describeBugcheck(code, CRASH).name, name);
});

Deno.test("a description comes with its reference and the general meaning of the arguments", () => {
  assert.deepEqual(describeBugcheck(0xD1, CRASH), {
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

Deno.test("a page whose name does not follow the rule keeps its own", () => {
  assert.match(describeBugcheck(0x133, CRASH).reference ?? "", /\/bug-check-0x133-dpc-watchdog-violation$/);
  assert.match(
    describeBugcheck(0x124, CRASH).reference ?? "",
    /\/bug-check-0x124---whea-uncorrectable-error$/,
  );
});

Deno.test("the bit of small dumps is dropped when the exact code has no entry", () => {
  assert.equal(describeBugcheck(0x100000D1, CRASH).name, "DRIVER_IRQL_NOT_LESS_OR_EQUAL");
  assert.equal(describeArguments(0x100000D1, [0n, 2n, 1n, 0n], CRASH)[2], "Kind of access: write");
  assert.equal(describeBugcheck(0xDEADDEAD, CRASH).name, "MANUALLY_INITIATED_CRASH1");
});

Deno.test("a code that is not in the catalogue gives nulls", () => {
  for (const code of [0, 0x5454414D, 0x10000000, 0x1FFFFFFF, 0xFFFFFFFF]) {
    assert.deepEqual(describeBugcheck(code, LIVE), {
      name: null,
      description: null,
      reference: null,
      arguments: [null, null, null, null],
    });
    assert.deepEqual(describeArguments(code, [1n, 2n, 3n, 4n], CRASH), [null, null, null, null]);
  }
});

Deno.test("the live option chooses the name and the description of the live dump", () => {
  assert.equal(chooseName({ name: "CRASHED", liveName: "WENT_ON" }, LIVE), "WENT_ON");
  assert.equal(chooseName({ name: "CRASHED", liveName: "WENT_ON" }, CRASH), "CRASHED");
  assert.equal(chooseName({ name: "CRASHED", liveName: null }, LIVE), "CRASHED");
  assert.equal(describeBugcheck(0x161, CRASH).name, "LIVE_SYSTEM_DUMP");
  assert.match(describeBugcheck(0x117, LIVE).description ?? "", /the system went on$/);
  assert.doesNotMatch(describeBugcheck(0x117, CRASH).description ?? "", /the system went on/);
});

Deno.test("argument 1 chooses among the meanings of a code", () => {
  assert.deepEqual(describeArguments(0x9F, [3n, 4n, 5n, 6n], CRASH), [
    "Kind of violation: device has been holding a power IRP too long",
    "Physical device object of the stack",
    "TRIAGE_9F_POWER block (before Windows 7 the functional device object)",
    "IRP being held",
  ]);
  assert.equal(describeArguments(0x9F, [4n, 4n, 5n, 6n], CRASH)[1], "Timeout in seconds");
  assert.equal(describeArguments(0xC4, [0x62n, 0n, 0n, 0n], CRASH)[3], "Allocations left");
  assert.equal(
    describeArguments(0xC4, [0x20005n, 0n, 0n, 0n], CRASH)[0],
    "Kind of violation: driver broke a driver interface rule",
  );
  assert.equal(describeArguments(0x1A, [0x41792n, 0n, 0n, 0n], CRASH)[1], "Address of the page table entry");
  assert.equal(describeArguments(0x124, [4n, 0n, 0n, 0n], CRASH)[0], "Source of the error: PCI Express");
  assert.equal(describeArguments(0x133, [1n, 0n, 0n, 0n], CRASH)[1], "Watchdog period");
});

Deno.test("a value that no table explains leaves the general meaning", () => {
  assert.deepEqual(describeArguments(0x9F, [0x77n, 0n, 0n, 0n], CRASH), [
    "Kind of violation",
    null,
    null,
    null,
  ]);
  assert.equal(describeArguments(0x139, [63n, 0n, 0n, 0n], CRASH)[0], "Kind of corruption");
});

Deno.test("0x7A takes argument 3 into account", () => {
  const third = (first: bigint, value: bigint): string | null =>
    describeArguments(0x7A, [first, 0n, value, 0n], CRASH)[2] ?? null;
  assert.equal(third(1n, 9n), "Current process");
  assert.equal(third(3n, 0n), "Zero");
  assert.equal(third(3n, 9n), "Address of the in-page support structure");
  assert.equal(third(0xFFFFF6FC40001234n, 9n), "Contents of the page table entry");
  assert.equal(describeArguments(0x7A, [3n, 0n, 0n, 0n], CRASH)[0], "Lock type 3");
});

Deno.test("a later argument can choose the meanings too", () => {
  assert.deepEqual(describeArguments(0xC1, [0n, 0n, 0n, 0x30n], CRASH), [
    "Current IRQL",
    "Pool type",
    "Bytes requested",
    "Kind of violation: allocated at a wrong IRQL",
  ]);
});

Deno.test("kinds of access and of corruption are told by value", () => {
  assert.equal(describeArguments(0xA, [0n, 2n, 0n, 0n], CRASH)[2], "Kind of access: read");
  assert.equal(describeArguments(0xA, [0n, 2n, 8n, 0n], CRASH)[2], "Kind of access: execute");
  assert.equal(describeArguments(0x50, [0n, 0x10n, 0n, 0n], CRASH)[1], "Kind of access: execute");
  assert.equal(describeArguments(0xEF, [0n, 1n, 0n, 0n], CRASH)[1], "What died: thread");
  assert.equal(
    describeArguments(0x139, [3n, 0n, 0n, 0n], CRASH)[0],
    "Kind of corruption: list entry corrupted, as by a double remove",
  );
});

Deno.test("an NTSTATUS argument is named, sign-extended or not", () => {
  const expected =
    "Exception code: STATUS_ACCESS_VIOLATION (memory was accessed that is not there or not allowed)";
  for (const code of [0x7E, 0x8E, 0x1E, 0x3B, 0x1000007E]) {
    assert.equal(describeArguments(code, [0xFFFFFFFFC0000005n, 0n, 0n, 0n], CRASH)[0], expected);
    assert.equal(describeArguments(code, [0xC0000005n, 0n, 0n, 0n], CRASH)[0], expected);
  }
  assert.equal(
    describeArguments(0x3B, [0x12345678C0000005n, 0n, 0n, 0n], CRASH)[0],
    "Exception code",
    "a value that is no sign-extended status has no name",
  );
});

Deno.test("missing arguments still give four entries", () => {
  assert.deepEqual(describeArguments(0xEF, [], CRASH), [
    "Process object",
    "What died",
    "Reserved",
    "Reserved",
  ]);
});

Deno.test({
  name: "codes and names equal the published tables",
  ignore: !exists(factsFile),
  fn: () => {
    const facts = Deno.readTextFileSync(factsFile);
    const published = (title: string): [number, string][] => {
      const line = facts.split("\n").find((text) => text.startsWith(`**${title}`)) ?? "";
      return [...line.matchAll(/0x([0-9A-F]+) ([A-Z0-9_]+)/g)].map(([, code = "", name = ""]) => [
        parseInt(code, 16),
        name,
      ]);
    };
    const ours = (field: "name" | "liveName"): [number, string][] =>
      [...listBugchecks().values()].flatMap((bugcheck) => {
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

Deno.test("a code read alone says what the whole catalogue says of it", () => {
  for (const [code, bugcheck] of listBugchecks()) {
    const { name, description, arguments: meanings } = describeBugcheck(code, { live: false });
    assert.equal(name, chooseName(bugcheck, { live: false }));
    assert.equal(description, bugcheck.description);
    assert.deepEqual(meanings, bugcheck.arguments.map(({ text }) => text));
  }
});
