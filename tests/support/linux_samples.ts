/** Cores and console texts of real Linux guests, packed, with what is right about each. */

import type { JsonObject } from "../../src/base/json.ts";
import { asList, asObject, asText, readExpected } from "./expected_values.ts";
import { hasSample, readSample } from "./shared_samples.ts";

const FOLDER = "dumps/linux";
const MANIFEST = `${FOLDER}/manifest.json`;

/** Whether the samples are there. */
export const hasLinuxSamples = hasSample(MANIFEST);

/** A sample and what is expected of it. */
export interface LinuxSample {
  /** Name below the folder of the samples. */
  readonly file: string;
  readonly expect: JsonObject;
  /** What each oracle said; empty for texts. */
  readonly oracles: JsonObject;
}

/** All samples of a kind; none where the folder is missing. */
export function linuxSamples(kind: "cores" | "serial"): LinuxSample[] {
  if (!hasLinuxSamples) return [];
  return asList(readExpected(MANIFEST)[kind]).map((each) => {
    const entry = asObject(each);
    return {
      file: asText(entry["file"]),
      expect: asObject(entry["expect"]),
      oracles: entry["oracles"] === undefined ? {} : asObject(entry["oracles"]),
    };
  });
}

/** Bytes of a sample, unpacked when its name ends in `.gz`. */
export async function readLinuxSample(file: string): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = readSample(`${FOLDER}/${file}`);
  if (!file.endsWith(".gz")) return bytes;
  const unpacked = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(unpacked).arrayBuffer());
}
