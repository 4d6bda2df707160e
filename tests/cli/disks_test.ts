/** Disks on the command line: what a broken chain prints, and what confirms a removal. */

import assert from "node:assert/strict";
import { qcow2File } from "../support/disk_writer.ts";
import { type ProgramOutcome, runHvlab } from "../support/program.ts";
import { withTemporaryFolder } from "../support/temporary_folder.ts";
import { hasProgram } from "../support/tiny_image.ts";

function diskTest(
  promise: string,
  needs: readonly string[],
  work: (run: (...args: string[]) => Promise<ProgramOutcome>, folder: string) => Promise<void>,
): void {
  Deno.test({
    name: `hvlab disk: ${promise}`,
    ignore: !needs.every(hasProgram),
    fn: () =>
      withTemporaryFolder((folder) =>
        work(
          (...args) => runHvlab(["disk", ...args], { cwd: folder, env: { HVLAB_STATE: `${folder}/state` } }),
          folder,
        )
      ),
  });
}

diskTest("a broken chain is shown as far as it goes and ends in 14", [], async (run, folder) => {
  await Deno.writeFile(`${folder}/child.img`, qcow2File({ backing: "gone.img", backingFormat: "raw" }));
  const shown = await run("chain", "child.img");
  assert.equal(shown.code, 14);
  assert.match(
    shown.stdout,
    /^0 {2}.*child\.img {2}\(qcow2, differencing, 1 MiB.*\n1 {2}.*gone\.img {2}\(raw\)\n {3}There is no/,
  );
  assert.match(shown.stderr, /is broken at ".*gone\.img".*\(hv\.bad_image\)/);
  const { code, stdout } = await run("chain", "child.img", "--json");
  const error = JSON.parse(stdout);
  assert.deepEqual([code, error.code, error.context.reason, error.context.layers.length], [
    14,
    "hv.bad_image",
    "missing",
    2,
  ]);
  assert.equal((await run("info", "child.img")).code, 0);
  assert.equal((await run("info", "nothing.img")).code, 3);
});

diskTest("its life, from the command line", ["qemu-img"], async (run, folder) => {
  const steps: [string, number][] = [
    ["create d.qcow2 --size 1G", 0],
    ["create d.qcow2 --size 1G", 4],
    ["create e.qcow2", 2],
    ["create e.qcow2 --size 1000", 2],
    ["resize d.qcow2 --size 2G", 0],
    ["convert d.qcow2 d.vhdx", 0],
    ["check d.qcow2", 0],
    ["delete d.qcow2", 6],
    ["delete d.qcow2 --confirm d.vhdx", 6],
    ["delete d.qcow2 --confirm d.qcow2", 0],
  ];
  for (const [line, wanted] of steps) {
    const { code, stderr } = await run(...line.split(" "), "--json");
    assert.equal(code, wanted, `${line}: ${stderr}`);
  }
  assert.deepEqual(
    [...Deno.readDirSync(folder)].filter(({ isFile }) => isFile).map(({ name }) => name),
    ["d.vhdx"],
  );
});
