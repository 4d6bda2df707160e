/** What goes wrong while templates are made and clones come up: nobody waits for ever, and nothing is left. */

import assert from "node:assert/strict";
import { failureOf } from "../support/failures.ts";
import { type QemuLab, qemuTest } from "../support/qemu_lab.ts";
import {
  assertNothingLeft,
  breakDeviceState,
  create,
  driverDeafToOneAgent,
  driverStuckAtAgents,
  isClone,
  machinesOf,
  namesIn,
  SIZE,
  untilRunning,
  warm,
} from "../support/template_lab.ts";

qemuTest("a clone that does not start leaves its agent's line before its folder goes", async (lab) => {
  const { folder } = await warm(lab);
  await breakDeviceState(folder);
  const inLineAtRemoval: number[] = [];
  const { driver, stuck } = driverStuckAtAgents(lab, {
    onRemoval(path, inLine) {
      if (path.startsWith(lab.host.environment.runtimeFolder())) inLineAtRemoval.push(inLine);
    },
  });
  try {
    const { id, warnings } = await create(lab, {}, driver);
    assert.match(warnings.join(), /booted, not cloned/);
    await stuck;
    assert.deepEqual(inLineAtRemoval, [0]);
    await driver.vms.remove(id, lab.scope);
    await assertNothingLeft(lab);
  } finally {
    await driver.close();
  }
});

/** Makes a sandbox, and gives that up once its guest is being woken and runs. */
async function giveUpAtWaking(lab: QemuLab): Promise<void> {
  const { scope } = lab;
  const givenUp = new AbortController();
  const { driver, stuck } = driverStuckAtAgents(lab);
  try {
    const signal = AbortSignal.any([scope.signal, givenUp.signal]);
    const making = assert.rejects(
      Promise.resolve(driver.sandboxes?.create(lab.sandbox(), { ...scope, signal })),
      /given up/,
    );
    await stuck;
    await untilRunning(lab, "box");
    givenUp.abort(new Error("given up"));
    await making;
  } finally {
    await driver.close();
  }
}

qemuTest("a clone that is given up while its guest is woken leaves nothing", async (lab) => {
  await warm(lab);
  await giveUpAtWaking(lab);
  await assertNothingLeft(lab);
});

qemuTest("a maker that is killed half-way leaves only what the next call removes", async (lab) => {
  const { driver, scope, state, host } = lab;
  const script = decodeURIComponent(new URL("../support/warm_maker.ts", import.meta.url).pathname);
  const maker = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-check", script, state.root, host.environment.runtimeFolder()],
    cwd: decodeURIComponent(new URL("../../", import.meta.url).pathname),
    stdin: "null",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  let said = "";
  for await (const chunk of maker.stdout) {
    said += new TextDecoder().decode(chunk);
    if (said.includes("Warming the guest up")) break;
  }
  maker.kill("SIGKILL");
  await maker.status;
  assert.match(namesIn(state.vms).join(), /^\.making-vm-/);

  await driver.sandboxes?.sweep(scope);
  assert.deepEqual(namesIn(state.vms), []);
  for (const orphan of await driver.vms.orphans(scope.signal)) await driver.vms.removeOrphan(orphan, scope);
  assert.equal((await warm(lab)).made, true);
  await assertNothingLeft(lab);
});

qemuTest("a pool's clone that is given up while it is claimed has no lease any more", async (lab) => {
  const { scope } = lab;
  await warm(lab);
  await lab.driver.templates?.keepReady("tiny", SIZE, 1, scope);
  await giveUpAtWaking(lab);
  assert.equal((await lab.driver.sandboxes?.sweep(scope))?.length, 1);
  await assertNothingLeft(lab);
});

/** Makes a sandbox whose first QEMU is killed while its guest is being woken. */
async function loseQemuAtWaking(lab: QemuLab): Promise<{ id: string; warnings: string[] }> {
  const { host, scope } = lab;
  const { driver, asked } = driverDeafToOneAgent(lab);
  try {
    const creating = create(lab, {}, driver);
    const pid = await untilRunning(lab, "box");
    const before = asked();
    while (asked() < before + 5) await host.clock.sleep(5, scope.signal);
    await host.processes.kill(pid, "KILL");
    return await creating;
  } finally {
    await driver.close();
  }
}

qemuTest("a sandbox whose clone's QEMU dies while the guest is woken boots instead", async (lab) => {
  await warm(lab);
  const { id, warnings } = await loseQemuAtWaking(lab);
  assert.match(warnings.join(), /booted, not cloned/);
  assert.equal(await isClone(lab, id), false);
  await lab.driver.vms.remove(id, lab.scope);
  await assertNothingLeft(lab);
});

qemuTest("a pool's clone whose QEMU dies while it is woken makes room for the next one", async (lab) => {
  const { driver, scope } = lab;
  await warm(lab);
  await driver.templates?.keepReady("tiny", SIZE, 1, scope);
  const { id, warnings } = await loseQemuAtWaking(lab);
  assert.match(warnings.join(), /A ready clone did not come up: .*Its QEMU has ended/);
  assert.equal(await isClone(lab, id), true);
  await driver.vms.remove(id, scope);
  assert.equal((await driver.sandboxes?.sweep(scope))?.length, 1);
  await assertNothingLeft(lab);
});

qemuTest(
  "a pool's clone that cannot go on leaves its agent's line before the next one is tried",
  async (lab) => {
    const { host, scope } = lab;
    await warm(lab);
    const filled = await lab.driver.templates?.keepReady("tiny", SIZE, 1, scope);
    const [member = ""] = filled?.added ?? [];
    const { pid = 0 } = await lab.driver.vms.get(member, scope.signal);
    await host.processes.kill(pid, "KILL");
    const { driver, inLine, stuck } = driverStuckAtAgents(lab, {
      isMeant: (path) => path.startsWith(lab.runtime(member).path),
    });
    try {
      const { id, warnings } = await create(lab, {}, driver);
      assert.match(warnings.join(), /A ready clone did not come up/);
      await stuck;
      assert.equal(inLine(), 0);
      await driver.vms.remove(id, scope);
      assert.equal((await lab.driver.sandboxes?.sweep(scope))?.length, 1);
      await assertNothingLeft(lab);
    } finally {
      await driver.close();
    }
  },
);

qemuTest("a template whose QEMU ends leaves its agent's line before its folder goes", async (lab) => {
  const { host, scope } = lab;
  const inLineAtRemoval: number[] = [];
  const { driver, stuck } = driverStuckAtAgents(lab, {
    onRemoval(path, inLine) {
      if (path.startsWith(host.environment.runtimeFolder())) inLineAtRemoval.push(inLine);
    },
  });
  try {
    const warming = failureOf("hv.job_failed", () => driver.templates?.warm("tiny", SIZE, scope));
    await stuck;
    const [machine] = await machinesOf(lab);
    await host.processes.kill(machine?.pid ?? 0, "KILL");
    await warming;
    assert.ok(inLineAtRemoval.length > 0);
    assert.deepEqual(inLineAtRemoval.filter((inLine) => inLine > 0), []);
    await assertNothingLeft(lab);
  } finally {
    await driver.close();
  }
});
