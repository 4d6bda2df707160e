/** Unwind codes of ARM64: packed entries, and the full form's rarer codes. */

import assert from "node:assert/strict";
import { packedOperations, parseArmCodes } from "../../../../src/dump/unwind/arm64_codes.ts";

function packed(
  fields: { floats?: number; integers?: number; homed?: number; chain?: number; frame: number },
) {
  const { floats = 0, integers = 0, homed = 0, chain = 0, frame } = fields;
  return packedOperations(
    (1 | (floats << 13) | (integers << 16) | (homed << 20) | (chain << 21) | ((frame / 16) << 23)) >>> 0,
  );
}

/** Bytes that the stack pointer rises by, all operations together; setting the frame is none. */
function rise(operations: ReturnType<typeof packed>): number {
  return operations.reduce((sum, operation) => sum + ("up" in operation ? operation.up : 0), 0);
}

Deno.test("every packed entry takes its whole frame down", () => {
  for (const chain of [0, 1, 3]) {
    for (const integers of [0, 1, 2, 5, 10]) {
      for (const floats of [0, 1, 7]) {
        for (const homed of [0, 1]) {
          const saved =
            (integers * 8 + (chain === 1 ? 8 : 0) + (floats && floats * 8 + 8) + homed * 64 + 15) & ~15;
          for (const local of [chain === 3 ? 16 : 0, 512, 528, 4096]) {
            const operations = packed({ floats, integers, homed, chain, frame: saved + local });
            assert.equal(
              rise(operations),
              saved + local,
              JSON.stringify({ chain, integers, floats, homed, local }),
            );
          }
        }
      }
    }
  }
});

Deno.test("a packed entry with a chain restores frame pointer and link, then the saved registers", () => {
  assert.deepEqual(packed({ integers: 3, chain: 3, frame: 48 }), [
    { op: "set_frame" },
    { op: "save", registers: [29, 30], offset: 0, up: 16 },
    { op: "save", registers: [21], offset: 16, up: 0 },
    { op: "save", registers: [19, 20], offset: 0, up: 32 },
  ]);
  assert.deepEqual(packed({ integers: 1, chain: 1, frame: 16 }), [
    { op: "save", registers: [19, 30], offset: 0, up: 16 },
  ]);
});

Deno.test("codes of the full form", () => {
  const read = (...bytes: number[]) =>
    parseArmCodes(Uint8Array.from(bytes)).map(({ operation }) => operation);
  assert.deepEqual(read(0x05), [{ op: "allocate", up: 80 }]);
  assert.deepEqual(read(0x81), [{ op: "save", registers: [29, 30], offset: 0, up: 16 }]);
  assert.deepEqual(read(0x42), [{ op: "save", registers: [29, 30], offset: 16, up: 0 }]);
  assert.deepEqual(read(0xC1, 0x02), [{ op: "allocate", up: 0x102 * 16 }]);
  assert.deepEqual(read(0xE0, 0x00, 0x10, 0x02), [{ op: "allocate", up: 0x1002 * 16 }]);
  assert.deepEqual(read(0xC8, 0x42), [{ op: "save", registers: [20, 21], offset: 16, up: 0 }]);
  assert.deepEqual(read(0xD4, 0x23), [{ op: "save", registers: [20], offset: 0, up: 32 }]);
  assert.deepEqual(read(0xD6, 0x41), [{ op: "save", registers: [21, 30], offset: 8, up: 0 }]);
  assert.deepEqual(read(0xE1, 0xE2, 0x03, 0xE4), [{ op: "set_frame" }, { op: "add_frame", offset: 24 }, {
    op: "end",
  }]);
  assert.deepEqual(read(0xFC), [{ op: "strip" }]);
  assert.deepEqual(read(0xE8, 0xE9, 0xEA, 0xEB, 0xEC).map(({ op }) => op), [
    "trap_frame",
    "machine_frame",
    "context",
    "emulated_context",
    "not_called",
  ]);
  for (const reserved of [0xED, 0xEE, 0xEF, 0xF0, 0xF8, 0xFD]) {
    assert.deepEqual(read(reserved, 0xE4), [{ op: "unknown" }], reserved.toString(16));
  }
});

Deno.test("save_next stands for the pair behind the next code's", () => {
  const operations = parseArmCodes(Uint8Array.from([0xE6, 0xE6, 0xCC, 0x05, 0xE4])).map(({ operation }) =>
    operation
  );
  assert.deepEqual(operations, [
    { op: "save", registers: [23, 24], offset: 32, up: 0 },
    { op: "save", registers: [21, 22], offset: 16, up: 0 },
    { op: "save", registers: [19, 20], offset: 0, up: 48 },
    { op: "end" },
  ]);
});

Deno.test("any register can be saved, alone or with its neighbour, and reserved forms end the walk", () => {
  const read = (second: number, third: number) =>
    parseArmCodes(Uint8Array.from([0xE7, second, third, 0x05])).map(({ operation }) => operation);
  const then = { op: "allocate", up: 80 };
  assert.deepEqual(read(9, 3), [{ op: "save", registers: [9], offset: 24, up: 0 }, then]);
  assert.deepEqual(read(0x40 | 9, 3), [{ op: "save", registers: [9, 10], offset: 48, up: 0 }, then]);
  assert.deepEqual(read(0x20 | 9, 3), [{ op: "save", registers: [9], offset: 0, up: 64 }, then]);
  assert.deepEqual(read(0x60 | 29, 0), [{ op: "save", registers: [29, 30], offset: 0, up: 16 }, then]);
  for (const kind of [0x40, 0x80]) {
    assert.deepEqual(read(31, kind | 3), [{ op: "allocate", up: 0 }, then]);
    assert.deepEqual(read(0x60 | 6, kind | 10), [{ op: "allocate", up: 176 }, then]);
  }
  for (const [second, third] of [[31, 0], [0x40 | 30, 0], [0x80 | 9, 0], [9, 0xC0]] as const) {
    assert.deepEqual(read(second, third), [{ op: "unknown" }], `${second} ${third}`);
  }
});
