/** The short answer fits into what a model is given for one call. */

import assert from "node:assert/strict";
import { encode } from "gpt-tokenizer/encoding/o200k_base";
import { triageDumpFile } from "../../../../src/debugger/triage/triage_file.ts";
import { linuxSamples, readLinuxSample } from "../../../support/linux_samples.ts";
import { MemoryFiles } from "../../../support/memory_files.ts";
import { StepClock } from "../../../support/step_clock.ts";

const TOKENS = 1500;

for (const { file } of [...linuxSamples("cores"), ...linuxSamples("serial")]) {
  Deno.test(`the short answer to ${file} has at most ${TOKENS} tokens`, async () => {
    const files = new MemoryFiles({ "/tmp/core": { bytes: await readLinuxSample(file) } });
    const answer = await triageDumpFile(files, new StepClock(), { path: "/tmp/core", full: false });
    const tokens = encode(JSON.stringify(answer)).length;
    assert(tokens <= TOKENS, `${tokens} tokens`);
  });
}
