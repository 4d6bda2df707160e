/** Console texts of real guests, read over by eye once. */

import assert from "node:assert/strict";
import { answerConsoleText } from "../../../../src/debugger/linux/answer_text.ts";
import { parseConsole } from "../../../../src/dump/linux/console/parse.ts";
import type { PrintedFrame } from "../../../../src/dump/linux/console/report.ts";
import { asList, asText } from "../../../support/expected_values.ts";
import { linuxSamples, readLinuxSample } from "../../../support/linux_samples.ts";

/** `hvcrash:hvcrash_inner+0xe`. */
function shortForm({ name, module, offset }: PrintedFrame): string {
  return `${module === null ? "" : `${module}:`}${name}+0x${offset.toString(16)}`;
}

for (const { file, expect } of linuxSamples("serial")) {
  Deno.test(`${file} tells what happened`, async () => {
    const text = new TextDecoder().decode(await readLinuxSample(file));
    const found = parseConsole(text.split("\n"));
    const report = found.main?.report;
    const stack = asList(expect["reliable_stack"]).map(asText);
    assert.deepEqual(found.main?.stack.slice(0, stack.length).map(shortForm), stack);
    assert.deepEqual(
      {
        class: report?.class,
        headline: report?.headline,
        hint: report?.reason,
        panic: found.panic,
        rip: report?.place,
        cr2: report?.cr2,
        fault_address: report?.facts["address"] ?? null,
        cpu: report?.cpu,
        pid: report?.pid,
        comm: report?.comm,
        taint: report?.taint,
        release: report?.release,
        oops_number: report?.oopsNumber,
        exit: report?.facts["exit"] ?? null,
        stack_length: found.main?.stack.length,
        bucket: found.main?.bucket,
        reports: found.reports.map((each) => each.report.class),
        boots: found.boots,
        halted: found.halted,
        rebooted_after: found.rebooted,
        modules: found.modules.slice(0, asList(expect["modules"]).length),
      },
      (({ reliable_stack: _, ...rest }) => rest)(expect),
    );
    const answer = answerConsoleText(text, { path: file, full: false, warnings: [] });
    assert.equal(answer.dump_kind, "console_text");
    assert.equal(answer.bucket, expect["bucket"]);
    assert.equal(answer.crash?.evidence, "text");
    assert(
      answer.log?.at(-1)?.includes(report?.headline ?? "?") === true,
      "the log ends with the report's first line",
    );
  });
}
