import assert from "node:assert/strict";
import { shellFinding } from "../../../../../src/drivers/hyperv/doctor/diagnose.ts";
import type { SidecarFacts } from "../../../../../src/drivers/hyperv/sidecar/probe.ts";

const FACTS: SidecarFacts = {
  edition: "Core",
  version: "7.6.9",
  module_version: "2.0.0.0",
  simulated: false,
  load_ms: 200,
  cure: "none",
  restored: [],
  language_mode: "FullLanguage",
};

Deno.test("the PowerShell that is not used is told by whether the module works in it", () => {
  const works = shellFinding({ program: "pwsh", facts: FACTS }, "powershell.exe");
  assert.deepEqual([works.check, works.status], ["PowerShell (pwsh)", "ok"]);
  assert.match(works.finding, /7\.6\.9.*2\.0\.0\.0/);
  assert.equal(shellFinding({ program: "pwsh" }, "powershell.exe").status, "ok");
  const failure = { code: "hv.unavailable", message: "The Hyper-V module cannot be loaded" };
  const fails = shellFinding({ program: "pwsh", failure }, "powershell.exe");
  assert.equal(fails.status, "warning");
  assert.match(fails.finding, /cannot be loaded; "powershell\.exe" is used/);
});
