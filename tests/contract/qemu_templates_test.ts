/** Warm templates with real guests: what clones share and what they do not, and who may take a template away. */

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { failureOf } from "../support/failures.ts";
import { qemuTest } from "../support/qemu_lab.ts";
import {
  assertNothingLeft,
  breakDeviceState,
  create,
  isClone,
  namesIn,
  run,
  SIZE,
  warm,
} from "../support/template_lab.ts";

qemuTest(
  "clones answer, share nothing, know the time, and leave template and image as they were",
  async (lab) => {
    const { driver, scope } = lab;
    assert.equal((await warm(lab)).made, true);
    assert.equal((await warm(lab)).made, false, "one that fits stays");
    const one = await create(lab, { name: "one" });
    const two = await create(lab, { name: "two" });
    assert.deepEqual([one.warnings, two.warnings], [[], []]);
    assert.deepEqual([await isClone(lab, one.id), await isClone(lab, two.id)], [true, true]);

    const random = ["sh", "-c", "head -c 16 /dev/urandom | sha256sum"];
    assert.notEqual(await run(lab, one.id, random), await run(lab, two.id, random));
    const clock = Number(await run(lab, one.id, ["date", "+%s"]));
    assert.ok(Math.abs(clock - Date.now() / 1000) < 10, `the guest's clock is ${clock}`);
    await run(lab, one.id, ["sh", "-c", "echo mine > /tmp/mine"]);
    assert.equal(await run(lab, two.id, ["sh", "-c", "ls /tmp/mine 2>/dev/null || echo none"]), "none\n");
    assert.equal(await run(lab, one.id, ["cat", "/tmp/mine"]), "mine\n");
    assert.doesNotMatch(await run(lab, one.id, ["sh", "-c", "ls -A /run /tmp; ps"]), /hvlab-waker/);

    for (const { id } of [one, two]) await driver.vms.remove(id, scope);
    const check = await driver.templates?.verify("tiny", scope);
    assert.equal(check?.sound, true);
    assert.deepEqual(check?.templates.map(({ fits, reason }) => [fits, reason]), [[true, undefined]]);
    const dropped = await driver.templates?.drop("tiny", scope);
    assert.deepEqual(dropped?.map(({ removed }) => removed), [true]);
    assert.deepEqual(namesIn(lab.state.templates), []);
    await assertNothingLeft(lab);
  },
);

qemuTest(
  "a clone's first program is like any other: found or not, its streams, its end, what it may be",
  async (lab) => {
    const { driver, scope } = lab;
    await warm(lab);
    const first = async (argv: string[], env: Record<string, string> = {}): Promise<string> => {
      const { id } = await create(lab);
      const [channel] = driver.channels(await driver.vms.get(id, scope.signal));
      const said = { out: "", err: "" };
      const collect = (stream: keyof typeof said) => (bytes: Uint8Array): Promise<void> =>
        Promise.resolve(void (said[stream] += new TextDecoder().decode(bytes)));
      try {
        const sinks = { stdout: collect("out"), stderr: collect("err") };
        const exit = await channel?.exec({ argv, env }, sinks, scope.signal);
        // The clock is right whichever way it began.
        const clock = Number(await run(lab, id, ["date", "+%s"]));
        assert.ok(Math.abs(clock - Date.now() / 1000) < 10, `the guest's clock is ${clock}`);
        return [said.out, said.err, exit?.exit_code, exit?.signal].join(";");
      } finally {
        channel?.close();
        await driver.vms.remove(id, scope);
      }
    };
    assert.equal(await first(["sh", "-c", "echo a; echo b >&2; exit 125"]), "a\n;b\n;125;");
    assert.equal(await first(["sh", "-c", "kill -9 $$"]), ";;;9");
    assert.equal(await first(["printf", "%s|", "", "é", "$x", "a b"]), "|é|$x|a b|;;0;");
    assert.equal(await first(["cat"]), ";;0;", "its input is empty");
    assert.equal(await first(["sh", "-c", "echo $word"], { word: "given" }), "given\n;;0;");
    assert.equal((await first(["echo", "x".repeat(40_000)])).length, 40_005, "more than the waker takes");
    await failureOf("hv.not_found", () => first(["no-such-program"]));
    assert.deepEqual((await driver.vms.list(scope.signal)).vms, []);
  },
);

qemuTest(
  "of two makers at once one makes, eight clones at once all run, and killed ones leave nothing",
  async (lab) => {
    const { driver, scope, host } = lab;
    const other = lab.another();
    const made = await Promise.all([
      driver.templates?.warm("tiny", SIZE, scope),
      other.templates?.warm("tiny", SIZE, scope),
    ]);
    assert.deepEqual(made.map((template) => template?.made).sort(), [false, true]);
    assert.equal(namesIn(`${lab.state.templates}/tiny`).length, 1);

    const fleet = await Promise.all(Array.from({ length: 8 }, async (_, index) => {
      const maker = index % 2 === 0 ? driver : other;
      const { id, warnings } = await create(lab, { name: `box ${index}` }, maker);
      assert.deepEqual(warnings, []);
      assert.equal(await run(lab, id, ["echo", String(index)], maker), `${index}\n`);
      return id;
    }));
    const [first = "", second = "", ...others] = fleet;
    for (const id of [first, second]) {
      const { pid = 0 } = await driver.vms.get(id, scope.signal);
      await host.processes.kill(pid, "KILL");
    }
    for (const id of [first, second, ...others]) await driver.vms.remove(id, scope);
    await assertNothingLeft(lab);
  },
);

qemuTest("a template is dropped only when no clone runs on it", async (lab) => {
  const { driver, scope } = lab;
  const { folder } = await warm(lab);
  const { id } = await create(lab, { tiedToUs: false });
  const failure = await failureOf("hv.conflict", () => driver.templates?.drop("tiny", scope));
  assert.deepEqual(failure.context.vms, [{ vm: id, name: "box" }]);
  assert.ok(existsSync(`${folder}/ram`));
  assert.equal((await driver.templates?.list("tiny"))?.[0]?.vms, 1);
  await driver.vms.stop(id, "off", scope);
  assert.equal((await driver.templates?.drop("tiny", scope))?.length, 1, "a clone that is off boots anew");
  await driver.vms.start(id, scope);
  await driver.vms.remove(id, scope);
  await assertNothingLeft(lab);
});

qemuTest("a template that nothing can use again is made anew by the next sandbox", async (lab) => {
  const { driver, scope } = lab;
  const { folder } = await warm(lab);
  const text = await Deno.readTextFile(`${folder}/template.json`);
  const old = folder.replace(/[0-9a-f]{32}$/, "0".repeat(32));
  const record = text.replace(/"fingerprint": "[0-9a-f]+"/, `"fingerprint": "${"0".repeat(32)}"`)
    .replace(/"modified": (\d+)\n(\s*\},\s*"machine")/, '"modified": 1\n$2');
  assert.notEqual(record, text);
  await Deno.rename(folder, old);
  await Deno.writeTextFile(`${old}/template.json`, record);
  const check = await driver.templates?.verify("tiny", scope);
  assert.match(check?.templates[0]?.reason ?? "", /is not the QEMU that made it any more/);

  const { id, warnings } = await create(lab);
  assert.deepEqual(warnings, []);
  assert.ok(await isClone(lab, id));
  assert.deepEqual(namesIn(`${lab.state.templates}/tiny`), [folder.slice(-32)]);
  await driver.vms.remove(id, scope);
  await assertNothingLeft(lab);
});

qemuTest(
  "without a template that fits a sandbox boots, and says why when there is another one",
  async (lab) => {
    const { driver, scope } = lab;
    const none = await create(lab);
    assert.deepEqual(none.warnings, []);
    assert.equal(await isClone(lab, none.id), false);
    await driver.vms.remove(none.id, scope);

    const { folder } = await warm(lab);
    const larger = await create(lab, { memory_mb: 160 });
    assert.match(larger.warnings.join(), /booted, not cloned .*the memory in MiB is 160 and was 128/);
    assert.equal(await isClone(lab, larger.id), false);
    await driver.vms.remove(larger.id, scope);

    await breakDeviceState(folder);
    const broken = await create(lab);
    assert.match(broken.warnings.join(), /booted, not cloned from the warm template of "tiny": /);
    assert.equal(await isClone(lab, broken.id), false);
    await driver.vms.remove(broken.id, scope);
    assert.equal((await driver.templates?.verify("tiny", scope))?.templates[0]?.fits, false);
    await assertNothingLeft(lab);
  },
);

qemuTest("a pool's clones are claimed as they stand, woken, named, and made good afterwards", async (lab) => {
  const { driver, scope } = lab;
  await warm(lab);
  const filled = await driver.templates?.keepReady("tiny", SIZE, 2, scope);
  const ready = filled?.added ?? [];
  assert.equal(ready.length, 2);
  const pids = new Map<string, number | undefined>();
  for (const id of ready) {
    const { state, pid, sandbox } = await driver.vms.get(id, scope.signal);
    assert.deepEqual([state, sandbox], ["paused", true]);
    pids.set(id, pid);
  }
  assert.deepEqual(await driver.templates?.tendPools(scope), [{ image: "tiny", added: [], removed: [] }]);

  const [one, two] = await Promise.all([
    create(lab, { name: "one" }),
    create(lab, { name: "two" }, lab.another()),
  ]);
  assert.deepEqual([one.id, two.id].sort(), [...ready].sort(), "one each");
  for (const { id } of [one, two]) {
    const { state, pid } = await driver.vms.get(id, scope.signal);
    assert.deepEqual([state, pid], ["running", pids.get(id)]);
    const clock = Number(await run(lab, id, ["date", "+%s"]));
    assert.ok(Math.abs(clock - Date.now() / 1000) < 10, `the guest's clock is ${clock}`);
  }
  const random = ["sh", "-c", "head -c 16 /dev/urandom | sha256sum"];
  assert.notEqual(await run(lab, one.id, random), await run(lab, two.id, random));
  const { vms } = await driver.vms.list(scope.signal);
  assert.deepEqual(vms.map(({ name }) => name).sort(), ["one", "two"]);

  const [tended] = await driver.templates?.tendPools(scope) ?? [];
  assert.equal(tended?.added.length, 2);
  await failureOf("hv.conflict", () => driver.templates?.drop("tiny", scope));
  for (const { id } of [one, two]) await driver.vms.remove(id, scope);
  assert.equal((await driver.templates?.drop("tiny", scope))?.length, 1, "a pool is no reason to stay");
  assert.deepEqual(namesIn(lab.state.templates), []);
  await assertNothingLeft(lab);
});
