import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { openDenoHost } from "../../../src/host/deno_host.ts";
import { readBootMark } from "../../../src/state/boot_mark.ts";
import { StateFolder } from "../../../src/state/layout.ts";
import { openStore, openStoreReadOnly } from "../../../src/state/store.ts";
import { withTemporaryFolder } from "../../support/temporary_folder.ts";

const markOf = (mark: string | undefined) => ({ bootMark: () => Promise.resolve(mark) });

Deno.test("a finding holds until the host boots again", () =>
  withTemporaryFolder(async (folder) => {
    const [host, state] = [openDenoHost(), new StateFolder(folder)];
    {
      using store = await openStore(host, state, markOf("boot 1"));
      assert.equal(await store.findings.get("kvm"), undefined);
      await store.findings.put("kvm", { works: false, reasons: ["a", null] });
      await store.findings.put("kvm", { works: true });
      assert.deepEqual(await store.findings.get("kvm"), { works: true });
    }
    {
      using again = await openStoreReadOnly(host, state, markOf("boot 1"));
      assert.deepEqual(await again?.findings.get("kvm"), { works: true });
    }
    using rebooted = await openStore(host, state, markOf("boot 2"));
    assert.equal(await rebooted.findings.get("kvm"), undefined);
    await rebooted.findings.put("other", 1);
    using old = await openStore(host, state, markOf("boot 1"));
    assert.equal(await old.findings.get("kvm"), undefined);
  }));

Deno.test("without a boot mark nothing is kept", () =>
  withTemporaryFolder(async (folder) => {
    const state = new StateFolder(folder);
    using store = await openStore(openDenoHost(), state, markOf(undefined));
    await store.findings.put("kvm", true);
    assert.equal(await store.findings.get("kvm"), undefined);
    using other = await openStore(openDenoHost(), state, markOf("boot 1"));
    assert.equal(await other.findings.get("kvm"), undefined);
  }));

Deno.test("null is a finding", () =>
  withTemporaryFolder(async (folder) => {
    using store = await openStore(openDenoHost(), new StateFolder(folder), markOf("boot 1"));
    await store.findings.put("nothing", null);
    assert.equal(await store.findings.get("nothing"), null);
  }));

Deno.test({
  name: "this host's boot mark stays the same",
  ignore: Deno.build.os !== "linux",
  async fn() {
    const mark = await readBootMark(openDenoHost());
    assert.match(mark ?? "", /^[0-9a-f-]{36}$/);
    assert.equal(mark, await readBootMark(openDenoHost()));
  },
});

Deno.test("a finding that was spoilt is as good as none", () =>
  withTemporaryFolder(async (folder) => {
    const state = new StateFolder(folder);
    using store = await openStore(openDenoHost(), state, markOf("boot 1"));
    await store.findings.put("kvm", { works: true });
    {
      using database = new DatabaseSync(state.database);
      database.exec("UPDATE findings SET value = '{spoilt'");
    }
    assert.equal(await store.findings.get("kvm"), undefined);
  }));
