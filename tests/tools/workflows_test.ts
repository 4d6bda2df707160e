/** The public workflows: they can be read, lean on pinned actions, end, and name files that are there. */

import assert from "node:assert/strict";
import { load } from "js-yaml";
import * as z from "zod/mini";
import { ROOT } from "../../tools/programs.ts";

const FOLDER = `${ROOT}/.github/workflows`;

const Workflow = z.looseObject({
  name: z.string(),
  on: z.looseObject({}),
  permissions: z.looseObject({}),
  jobs: z.record(
    z.string(),
    z.looseObject({
      "runs-on": z.string(),
      "timeout-minutes": z.int(),
      steps: z.array(z.union([
        z.strictObject({
          uses: z.string().check(z.regex(/^[\w-]+\/[\w-]+@[0-9a-f]{40}$/, "an action at a commit")),
          name: z.optional(z.string()),
          if: z.optional(z.string()),
          with: z.optional(z.looseObject({})),
          env: z.optional(z.looseObject({})),
        }),
        z.strictObject({
          run: z.string(),
          name: z.optional(z.string()),
          if: z.optional(z.string()),
          shell: z.optional(z.string()),
          env: z.optional(z.looseObject({})),
        }),
      ])),
    }),
  ),
});

Deno.test("each workflow can be read and is as it should be", async () => {
  const names = [...Deno.readDirSync(FOLDER)].map(({ name }) => name);
  assert.ok(names.includes("hyperv.yml"));
  for (const name of names) {
    const text = await Deno.readTextFile(`${FOLDER}/${name}`);
    const { jobs } = Workflow.parse(load(text));
    const words = Object.values(jobs).flatMap(({ steps }) => steps).flatMap((step) =>
      "run" in step ? step.run.split(/[\s"]+/) : []
    );
    for (const word of words.filter((each) => /^(tests|tools|src|\.ci)\//.test(each))) {
      await assert.doesNotReject(Deno.stat(`${ROOT}/${word}`), `${name}: ${word}`);
    }
  }
});
