import * as z from "zod/mini";
import { HvError } from "../../base/errors.ts";
import { ConsoleWait } from "../../contract/console.ts";
import { VmRef } from "../../contract/names.ts";
import { expressionFinder, textFinder } from "../../flows/console/line_finder.ts";
import { type Found, SerialSearch } from "../../flows/console/serial_text.ts";
import { waitAtMost } from "../../flows/waiting/wait_at_most.ts";
import { waitForSerial, waitUntilSettled } from "../../flows/console/wait_for_console.ts";
import { defineTool } from "../define_tool.ts";

/** Waits for a text on a VM's serial line or for its screen to come to rest; over MCP it answers after `wait_s`. */
export default defineTool({
  name: "console_wait",
  family: "console",
  class: "R",
  summary: "Wait for text on a VM's serial line, or until its screen settles",
  input: {
    vm: VmRef,
    serial: z.optional(z.string().check(z.minLength(1), z.maxLength(1_000))),
    regex: z._default(z.boolean(), false),
    offset: z.optional(z.int().check(z.minimum(0))),
    settled_s: z.optional(z.number().check(z.minimum(0.1), z.maximum(600))),
  },
  positional: ["vm"],
  help: {
    serial: "Text within a line, looked for since the VM's last start",
    regex: "The text is a regular expression",
    offset: "Looks from this offset on",
    settled_s: "For how long the screen must show the same; a blinking cursor counts as that",
  },
  output: ConsoleWait,
  uses: ["driver", "vm"],
  feature: "console",
  timed: true,
  waits: true,
  async handle({ serial, regex, offset = 0, settled_s }, { driver, vm, host, signal, options }) {
    const { clock } = host;
    if ((serial === undefined) === (settled_s === undefined)) throw oneOfBoth();
    let found: Found | undefined;
    const wait = async (limited: AbortSignal): Promise<void> => {
      const scope = { signal: limited, clock };
      if (serial === undefined) return await waitUntilSettled(driver, vm, (settled_s ?? 0) * 1000, scope);
      using finder = regex ? expressionFinder(serial, clock) : textFinder(serial);
      found = await waitForSerial(driver, vm, new SerialSearch(finder, offset), serial, scope);
    };
    const reached = await waitAtMost(clock, options.wait_s, signal, wait);
    return { vm: vm.id, reached, ...found, ...(reached && settled_s !== undefined ? { settled_s } : {}) };
  },
});

function oneOfBoth(): HvError {
  return new HvError("hv.usage", "A wait needs either a text for the serial line or a time for the screen", {
    hint: "Give --serial TEXT or --settled TIME, such as --settled 2s",
  });
}
