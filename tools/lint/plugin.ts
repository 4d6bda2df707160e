/** Rules of this project for `deno lint`: what the layout promises and a machine can see in one file. */

import { clockRule, denoRule, exitRule, nodeRule, printRule } from "./doors.ts";
import { packageRule } from "./packages.ts";
import { castRule, stdioRule } from "./shapes.ts";

const plugin: Deno.lint.Plugin = {
  name: "hvlab",
  rules: {
    "deno-in-host-only": denoRule,
    "node-in-host-only": nodeRule,
    "clock-in-host-only": clockRule,
    "print-in-cli-only": printRule,
    "exit-in-main-only": exitRule,
    "package-behind-its-door": packageRule,
    "no-cast": castRule,
    "spawn-states-stdio": stdioRule,
  },
};

export default plugin;
