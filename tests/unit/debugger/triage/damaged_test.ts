/** Damaged dumps, images and symbol files all the way through a triage: an answer or a coded refusal, soon. */

import fc from "fast-check";
import {
  damage,
  judge,
  randomFrom,
  type Seed,
  storeSeeds,
  writtenSeeds,
} from "../../../support/mutations.ts";

const SEEDS: readonly Seed[] = [...writtenSeeds(), ...storeSeeds()];

Deno.test("a dump or symbol file with any damage is answered or refused", async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat(SEEDS.length - 1), fc.nat(0xFFFF_FFFF), async (index, number) => {
      const seed = SEEDS[index];
      if (seed !== undefined) await judge(seed, damage(seed.bytes, randomFrom(number + 1)));
    }),
    { numRuns: 250 },
  );
});

/** Places in headers and tables at which one field ends and the next begins. */
function boundaries(size: number): number[] {
  const fine = Array.from({ length: 24 }, (_, index) => Math.floor(index * 0x2100 / 24 / 4) * 4);
  const coarse = Array.from({ length: 16 }, (_, index) => Math.floor(size * index / 16));
  return [...new Set([...fine, ...coarse, size - 1])].filter((at) => at < size && at >= 0);
}

for (const seed of SEEDS) {
  Deno.test(`${seed.name}, cut at every boundary, is answered or refused`, async () => {
    for (const at of boundaries(seed.bytes.length)) await judge(seed, seed.bytes.subarray(0, at));
  });
}

Deno.test("every field of a header may hold anything", async () => {
  const values = [0, 0xFF];
  for (const seed of SEEDS.filter(({ place }) => place === undefined)) {
    // Which fields depends on the seed, so that together they are all of them.
    const first = 4 * (SEEDS.indexOf(seed) % 16);
    for (let at = first; at < Math.min(0x2100, seed.bytes.length); at += 4 * 16) {
      const bytes = seed.bytes.slice();
      bytes.fill(values[(at / 64) % 2] ?? 0, at, at + 4);
      await judge(seed, bytes);
    }
  }
});
