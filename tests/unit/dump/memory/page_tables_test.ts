import assert from "node:assert/strict";
import { isAbsence } from "../../../../src/dump/memory/absence.ts";
import { AddressSpace } from "../../../../src/dump/memory/address_space.ts";
import type { PhysicalMemory } from "../../../../src/dump/memory/physical.ts";
import { MachineMemory, type WrittenPaging } from "../../../support/machine_memory.ts";

const HIGH = 0xFFFFA00012345000n;

/** The pages of a machine without a file around them. */
function physicalOf(machine: MachineMemory): PhysicalMemory {
  const page = (frame: number) => machine.pages.get(frame)?.bytes;
  return {
    pageCount: machine.pages.size,
    page: (frame) => page(frame) ?? { why: "not_in_dump", frame },
    fileOffsetOf: (frame) => page(frame) === undefined ? null : frame * 4096,
    read: () => ({ why: "not_in_dump", frame: 0 }),
  };
}

function space(machine: MachineMemory, build: number | null = 19041): AddressSpace {
  const { paging, directoryTableBase } = machine;
  return new AddressSpace({ physical: physicalOf(machine), paging, directoryTableBase, build });
}

/** Where an address lies: physical address and way, or the absence. */
function placeOf(memory: AddressSpace, address: bigint): unknown {
  const place = memory.translate(address);
  return isAbsence(place) ? place : [place.physical, place.through];
}

const ADDRESSES: Readonly<Record<WrittenPaging, readonly bigint[]>> = {
  "x64": [HIGH, 0x7FFE0000n, 0xFFFFFFFFFFFFF000n, 0x00007FFFFFFFF000n],
  "x64-5level": [HIGH, 0x7FFE0000n, 0xFF12345678901000n, 0x00FFFFFFFFFFF000n],
  "arm64": [HIGH, 0x7FFE0000n, 0xFFFFFFFFFFFFF000n],
  "x86-pae": [0x80400000n, 0x7FFE0000n, 0xFFFFF000n, 0xC0001000n],
  "x86": [0x80400000n, 0x7FFE0000n, 0xFFFFF000n],
};

for (const paging of ["x64", "x64-5level", "arm64", "x86-pae", "x86"] as const) {
  Deno.test(`${paging}: small pages are found at their addresses and nowhere else`, () => {
    const machine = new MachineMemory(paging);
    const frames = ADDRESSES[paging].map((address) => machine.frameFor(address));
    const memory = space(machine);
    ADDRESSES[paging].forEach((address, index) => {
      const physical = BigInt(frames[index] ?? 0) * 4096n;
      assert.deepEqual(placeOf(memory, address + 0x123n), [physical + 0x123n, "page"]);
    });
    assert.deepEqual(placeOf(memory, (ADDRESSES[paging][0] ?? 0n) ^ 0x1000n), {
      why: "not_mapped",
      level: 1,
    });
  });
}

Deno.test("addresses between the halves are none", () => {
  const four = space(new MachineMemory("x64"));
  assert.deepEqual(placeOf(four, 0x0000800000000000n), { why: "not_canonical" });
  assert.deepEqual(placeOf(four, 0xFFFF7FFFFFFFFFFFn), { why: "not_canonical" });
  assert.deepEqual(placeOf(four, 0x0000700000000000n), { why: "not_mapped", level: 4 });
  const five = space(new MachineMemory("x64-5level"));
  assert.deepEqual(placeOf(five, 0x0000800000000000n), { why: "not_mapped", level: 5 });
  assert.deepEqual(placeOf(five, 0x0100000000000000n), { why: "not_canonical" });
});

Deno.test("large pages of x64: bits below their size are not part of the address", () => {
  const machine = new MachineMemory("x64");
  machine.setEntry(HIGH, machine.presentEntry(0x400 + 0x1, 2), 2); // bit 12, the memory type, is set
  const giant = 0xFFFFB00000000000n;
  machine.setEntry(giant, machine.presentEntry(0x80000 + 0x3FFFF, 3), 3);
  const high = 0xFFFFB00080000000n; // software bits and no-execute
  machine.setEntry(high, machine.presentEntry(0x80000, 3) | 0xFFF0_0000_0000_0000n, 3);
  const memory = space(machine);
  const inside = HIGH & 0x1FFFFFn;
  assert.deepEqual(placeOf(memory, HIGH), [0x400000n + inside, "large_page"]);
  assert.deepEqual(placeOf(memory, giant + 0x12345678n), [0x80000000n + 0x12345678n, "large_page"]);
  assert.deepEqual(placeOf(memory, high + 0x1000n), [0x80001000n, "large_page"]);
});

Deno.test("large pages of the other processors", () => {
  const arm = new MachineMemory("arm64");
  arm.setEntry(HIGH, arm.presentEntry(0x400, 2), 2);
  arm.setEntry(0xFFFFB00000000000n, arm.presentEntry(0x80000, 3), 3);
  arm.setEntry(0xFFFFC00000000000n, arm.presentEntry(0x80000, 4), 4);
  const armMemory = space(arm);
  assert.deepEqual(placeOf(armMemory, HIGH), [0x400000n + (HIGH & 0x1FFFFFn), "large_page"]);
  assert.deepEqual(placeOf(armMemory, 0xFFFFB00000001000n), [0x80001000n, "large_page"]);
  assert.deepEqual(placeOf(armMemory, 0xFFFFC00000000000n), { why: "unknown_entry", level: 4 });

  const pae = new MachineMemory("x86-pae");
  pae.setEntry(0x80400000n, pae.presentEntry(0x12_3400, 2), 2);
  assert.deepEqual(placeOf(space(pae), 0x80412345n), [0x123412345n, "large_page"]);

  const narrow = new MachineMemory("x86");
  narrow.setEntry(0x80400000n, 0x00C0_0000n | (5n << 13n) | 0xE3n, 2); // bits 39:32 of the address are 5
  assert.deepEqual(placeOf(space(narrow), 0x80412345n), [0x5_00C1_2345n, "large_page"]);
});

Deno.test("a page in transition is still in its frame", () => {
  const machine = new MachineMemory("x64");
  const frame = machine.newPage();
  const entry = (BigInt(frame) << 12n) | 0x860n;
  machine.setEntry(HIGH, entry, 1);
  machine.setEntry(HIGH + 0x1000n, entry | (1n << 45n), 1); // the guard against speculation
  machine.setEntry(HIGH + 0x2000n, entry | (1n << 48n), 1);
  machine.setEntry(HIGH + 0x3000n, entry | (1n << 63n) | (3n << 5n), 1);
  const memory = space(machine);
  const physical = BigInt(frame) * 4096n;
  assert.deepEqual(placeOf(memory, HIGH), [physical, "transition"]);
  assert.deepEqual(placeOf(memory, HIGH + 0x1000n), [physical, "transition"]);
  assert.equal(memory.read(HIGH + 0x2000n, 1), undefined);
  assert.deepEqual(placeOf(memory, HIGH + 0x3000n), [physical, "transition"]);
});

Deno.test("a prototype entry is followed once, to a page or a page in transition", () => {
  const machine = new MachineMemory("x64");
  const frame = machine.newPage();
  const table = 0xFFFFA10000000000n;
  const prototype = (index: bigint) => ((table + 8n * index) << 16n) | 0x400n;
  const entry = (value: bigint) => BigInt.asUintN(64, value);
  const targets = new BigUint64Array([
    (BigInt(frame) << 12n) | 0x63n,
    (BigInt(frame) << 12n) | 0x860n,
    entry(prototype(0n)),
    0x0000_0123_0000_2000n,
    0n,
  ]);
  machine.put(table, new Uint8Array(targets.buffer));
  for (const index of [0n, 1n, 2n, 3n, 4n]) {
    machine.setEntry(HIGH + 0x1000n * index, entry(prototype(index)), 1);
  }
  machine.setEntry(HIGH + 0x5000n, entry(prototype(0n)) | 0x800n, 1); // the transition bit does not matter
  machine.setEntry(HIGH + 0x6000n, entry((0xFFFFA20000000000n << 16n) | 0x400n), 1);
  const memory = space(machine);
  const physical = BigInt(frame) * 4096n;
  assert.deepEqual(placeOf(memory, HIGH), [physical, "prototype"]);
  assert.deepEqual(placeOf(memory, HIGH + 0x1000n), [physical, "prototype"]);
  assert.deepEqual(placeOf(memory, HIGH + 0x2000n), { why: "unknown_entry", level: 1 });
  assert.deepEqual(placeOf(memory, HIGH + 0x3000n), { why: "paged_out", file: 2, offset: 0x123 });
  assert.deepEqual(placeOf(memory, HIGH + 0x4000n), { why: "not_mapped", level: 1 });
  assert.deepEqual(placeOf(memory, HIGH + 0x5000n), [physical, "prototype"]);
  assert.deepEqual(placeOf(memory, HIGH + 0x6000n), { why: "not_mapped", level: 4 });
});

Deno.test("pages in a page file tell their place, in the form of their build", () => {
  const machine = new MachineMemory("x64");
  machine.setEntry(HIGH, 0x0000_4567_0000_5006n, 1);
  machine.setEntry(HIGH + 0x1000n, 0xFFFF_9234_0000_0080n, 1);
  assert.deepEqual(placeOf(space(machine, 17133), HIGH), { why: "paged_out", file: 3, offset: 0x4567 });
  assert.deepEqual(placeOf(space(machine, 17134), HIGH), { why: "paged_out", file: 5, offset: 0x4567 });
  assert.deepEqual(placeOf(space(machine, 22621), HIGH + 0x1000n), { why: "file_backed" });
  assert.equal(space(machine, 22000).read(HIGH + 0x1000n, 4), undefined);
});

Deno.test("absent pages of 32-bit machines", () => {
  const pae = new MachineMemory("x86-pae");
  const frame = pae.newPage();
  const real = 0x85000010n;
  pae.put(real, new Uint8Array(new BigUint64Array([(BigInt(frame) << 12n) | 0x63n]).buffer));
  pae.setEntry(0x80400000n, (BigInt(frame) << 12n) | 0x860n, 1);
  pae.setEntry(0x80401000n, (real << 32n) | 0x400n, 1);
  pae.setEntry(0x80402000n, (0x99n << 32n) | 0x4n, 1);
  const paeMemory = space(pae, 7601);
  const physical = BigInt(frame) * 4096n;
  assert.deepEqual(placeOf(paeMemory, 0x80400000n), [physical, "transition"]);
  assert.deepEqual(placeOf(paeMemory, 0x80401000n), [physical, "prototype"]);
  assert.deepEqual(placeOf(paeMemory, 0x80402000n), { why: "paged_out", file: 2, offset: 0x99 });
  assert.deepEqual(placeOf(paeMemory, 0xC0000000n), { why: "not_mapped", level: 3 });

  const narrow = new MachineMemory("x86");
  const held = narrow.newPage();
  narrow.setEntry(0x80400000n, BigInt(held * 4096) | 0x860n, 1);
  narrow.setEntry(0x80401000n, 0x400n, 1);
  narrow.setEntry(0x80402000n, 0x12345006n, 1);
  const memory = space(narrow, 2600);
  assert.deepEqual(placeOf(memory, 0x80400000n), [BigInt(held * 4096), "transition"]);
  assert.deepEqual(placeOf(memory, 0x80401000n), { why: "unknown_entry", level: 1 });
  assert.deepEqual(placeOf(memory, 0x80402000n), { why: "paged_out", file: 3, offset: 0x12345 });
});

Deno.test("absent pages of ARM64 are those of x64, as the real debugger has it", () => {
  const machine = new MachineMemory("arm64");
  const frame = machine.newPage();
  const table = 0xFFFFA10000000000n;
  machine.put(table, new Uint8Array(new BigUint64Array([machine.presentEntry(frame, 1)]).buffer));
  machine.setEntry(HIGH, (BigInt(frame) << 12n) | 0x860n, 1);
  machine.setEntry(HIGH + 0x1000n, BigInt.asUintN(64, (table << 16n) | 0x400n), 1);
  machine.setEntry(HIGH + 0x2000n, 0x12345001n, 1); // valid, and no page
  machine.setEntry(HIGH + 0x3000n, machine.presentEntry(frame, 1) | (1n << 48n), 1); // no address bit
  machine.setEntry(HIGH + 0x4000n, machine.presentEntry(frame, 1) | (1n << 47n), 1);
  const memory = space(machine);
  const physical = BigInt(frame) * 4096n;
  assert.deepEqual(placeOf(memory, HIGH), [physical, "transition"]);
  assert.deepEqual(placeOf(memory, HIGH + 0x1000n), [physical, "prototype"]);
  assert.deepEqual(placeOf(memory, HIGH + 0x2000n), { why: "unknown_entry", level: 1 });
  assert.deepEqual(placeOf(memory, HIGH + 0x3000n), [physical, "page"]);
  assert.deepEqual(placeOf(memory, HIGH + 0x4000n), [physical + (1n << 47n), "page"]);
});

Deno.test("only bits 36 to 12 of a 64-bit entry of a 32-bit machine name a frame", () => {
  const machine = new MachineMemory("x86-pae");
  const frame = machine.newPage();
  machine.setEntry(0x90000000n, machine.presentEntry(frame, 1) | (1n << 37n), 1);
  machine.setEntry(0x90001000n, machine.presentEntry(frame, 1) | (1n << 36n), 1);
  machine.setEntry(0x90002000n, (BigInt(frame) << 12n) | 0x860n | (1n << 45n), 1);
  const memory = space(machine);
  const physical = BigInt(frame) * 4096n;
  assert.deepEqual(placeOf(memory, 0x90000000n), [physical, "page"]);
  assert.deepEqual(placeOf(memory, 0x90001000n), [physical + (1n << 36n), "page"]);
  assert.deepEqual(placeOf(memory, 0x90002000n), [physical, "transition"]);
});

Deno.test("a table that is not in the dump is told by its frame", () => {
  const machine = new MachineMemory("x64");
  machine.setEntry(HIGH, (0x7777n << 12n) | 0x63n, 2);
  assert.deepEqual(placeOf(space(machine), HIGH), { why: "not_in_dump", frame: 0x7777 });
});

Deno.test("a table that leads to itself ends like every other walk", () => {
  const machine = new MachineMemory("x64");
  machine.page(machine.root).u64(0, ...Array.from({ length: 512 }, () => BigInt(machine.root << 12) | 0x63n));
  assert.deepEqual(placeOf(space(machine), 0x1000n), [BigInt(machine.root << 12), "page"]);
});

Deno.test("an address space reads across pages and says where it ends", () => {
  const machine = new MachineMemory("x64");
  const bytes = Uint8Array.from({ length: 0x1800 }, (_, index) => index * 7);
  machine.put(HIGH + 0xC00n, bytes.subarray(0, 0x400));
  machine.put(HIGH + 0x1000n, bytes.subarray(0x400, 0x1400));
  const memory = space(machine);
  assert.deepEqual(memory.read(HIGH + 0xC00n, 0x1400), bytes.slice(0, 0x1400));
  assert.equal(memory.read(HIGH + 0xC00n, 0x1401), undefined);
  const { bytes: found, absence } = memory.readUpTo(HIGH + 0xC00n, 0x2000);
  assert.deepEqual([found.length, absence], [0x1400, { why: "not_mapped", level: 1 }]);
  const parts = memory.readParts(HIGH + 0x1F00n, 0x1200);
  assert.deepEqual(parts.map((part) => [part.address, part.bytes?.length ?? part]), [
    [HIGH + 0x1F00n, 0x100],
    [HIGH + 0x2000n, {
      address: HIGH + 0x2000n,
      bytes: null,
      absence: { why: "not_mapped", level: 1 },
      length: 0x1000,
    }],
    [HIGH + 0x3000n, {
      address: HIGH + 0x3000n,
      bytes: null,
      absence: { why: "not_mapped", level: 1 },
      length: 0x100,
    }],
  ]);
});

Deno.test("reading ends at the top of the address space", () => {
  const machine = new MachineMemory("x64");
  machine.put(0xFFFFFFFFFFFFF000n, new Uint8Array(4096).fill(9));
  const memory = space(machine);
  assert.equal(memory.u64(0xFFFFFFFFFFFFFFF8n), 0x0909090909090909n);
  assert.equal(memory.read(0xFFFFFFFFFFFFFFF8n, 9), undefined);
  assert.equal(memory.readUpTo(0xFFFFFFFFFFFFFFF8n, 64).bytes.length, 8);
  assert.equal(memory.readParts(0xFFFFFFFFFFFFFFF8n, 64).length, 1);
  const narrow = new MachineMemory("x86");
  narrow.put(0x80400000n, Uint8Array.of(1, 2, 3, 4));
  assert.equal(space(narrow).u32(0xFFFFFFFF80400000n), 0x04030201, "addresses may be sign-extended");
});
