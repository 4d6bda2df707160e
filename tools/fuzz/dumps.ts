/**
 * Damages dumps, images and symbol files for as long as it is told, and keeps what it finds:
 * `deno run -A tools/fuzz/dumps.ts [--seconds 60] [--seed 1] [--keep FOLDER]`. Ends with 1 when it has found something.
 * The same seed gives the same files, so that a finding can be made again.
 */

import {
  damage,
  Finding,
  judge,
  randomFrom,
  sampleSeeds,
  type Seed,
  writtenSeeds,
} from "../../tests/support/mutations.ts";

interface Options {
  seconds: number;
  seed: number;
  keep: string;
}

function readOptions(args: readonly string[]): Options {
  const options: Options = { seconds: 60, seed: Math.floor(Math.random() * 2 ** 32), keep: "dist/fuzz" };
  for (let at = 0; at < args.length; at += 2) {
    const [name, value = ""] = args.slice(at, at + 2);
    if (name === "--seconds" && Number(value) > 0) options.seconds = Number(value);
    else if (name === "--seed" && Number.isSafeInteger(Number(value)) && value !== "") {
      options.seed = Number(value);
    } else if (name === "--keep" && value !== "") options.keep = value;
    else {
      console.error("fuzz: it takes --seconds NUMBER, --seed NUMBER and --keep FOLDER");
      Deno.exit(2);
    }
  }
  return options;
}

async function keep(
  folder: string,
  seed: Seed,
  bytes: Uint8Array,
  number: number,
  finding: Finding,
): Promise<string> {
  await Deno.mkdir(folder, { recursive: true });
  const name = `${folder}/${number}-${seed.name.replace(/[^A-Za-z0-9._-]+/g, "_")}`;
  await Deno.writeFile(name, bytes);
  await Deno.writeTextFile(`${name}.txt`, `seed ${number}, made of ${seed.name}\n${finding.message}\n`);
  return name;
}

if (import.meta.main) {
  const options = readOptions(Deno.args);
  const seeds = [...writtenSeeds(), ...sampleSeeds()];
  const random = randomFrom(options.seed + 1);
  const end = performance.now() + options.seconds * 1000;
  let runs = 0;
  let found = 0;
  console.log(`fuzz: ${seeds.length} files, seed ${options.seed}, ${options.seconds} s`);
  while (performance.now() < end) {
    const number = Math.floor(random() * 2 ** 32);
    const seed = seeds[Math.floor(random() * seeds.length)];
    if (seed === undefined) break;
    const bytes = damage(seed.bytes, randomFrom(number));
    runs++;
    try {
      await judge(seed, bytes);
    } catch (finding) {
      if (!(finding instanceof Finding)) throw finding;
      found++;
      console.log(
        `${await keep(options.keep, seed, bytes, number, finding)}: ${finding.message.split("\n")[0]}`,
      );
    }
  }
  console.log(`fuzz: ${runs} files tried, ${found} findings`);
  if (found > 0) Deno.exit(1);
}
