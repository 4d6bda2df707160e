import assert from "node:assert/strict";
import { HvError } from "../../../src/base/errors.ts";
import { DenoEnvironment } from "../../../src/host/environment.ts";

const NAMES = ["XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR", "HOME"] as const;

/** Works with other variables than the process has. */
function withVariables(values: Record<typeof NAMES[number], string>, work: () => void): void {
  const before = NAMES.map((name) => [name, Deno.env.get(name)] as const);
  try {
    for (const name of NAMES) Deno.env.set(name, values[name]);
    work();
  } finally {
    for (const [name, value] of before) {
      if (value === undefined) Deno.env.delete(name);
      else Deno.env.set(name, value);
    }
  }
}

Deno.test("no variable leads into the folder that the program was started in", () => {
  const relative = { XDG_CONFIG_HOME: "config", XDG_STATE_HOME: "./state", XDG_RUNTIME_DIR: "run" };
  const environment = new DenoEnvironment("linux");
  withVariables({ ...relative, HOME: "/home/ann" }, () => {
    assert.equal(environment.configFolder(), "/home/ann/.config/hvlab");
    assert.equal(environment.stateFolder(), "/home/ann/.local/state/hvlab");
    assert.match(environment.runtimeFolder(), /^\/tmp\/hvlab-/);
  });
  withVariables({ ...relative, HOME: "." }, () => {
    for (const folder of [() => environment.configFolder(), () => environment.stateFolder()]) {
      assert.throws(folder, (error) => error instanceof HvError && error.code === "hv.unavailable");
    }
  });
});

Deno.test("full paths in the variables win over the usual folders", () => {
  const environment = new DenoEnvironment("linux");
  withVariables({ XDG_CONFIG_HOME: "/c", XDG_STATE_HOME: "/s", XDG_RUNTIME_DIR: "/r", HOME: "/h" }, () => {
    const { configFolder, stateFolder, runtimeFolder } = environment;
    const folders = [configFolder, stateFolder, runtimeFolder].map((folder) => folder.call(environment));
    assert.deepEqual(folders, ["/c/hvlab", "/s/hvlab", "/r/hvlab"]);
  });
});
