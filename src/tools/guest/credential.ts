import * as z from "zod/mini";
import { HvError } from "../../base/errors.ts";
import { GuestCredential } from "../../contract/guest.ts";
import { VmRef } from "../../contract/names.ts";
import { forgetCredential, storeCredential } from "../../guest/credentials.ts";
import { readPassword } from "../../guest/login.ts";
import { defineTool } from "../define_tool.ts";

/** Stores whom to log in as in a guest, or forgets it. The password comes in a variable and is never shown. */
export default defineTool({
  name: "guest_credential",
  family: "guest",
  class: "M",
  summary: "Store or forget the login of a guest",
  input: {
    vm: VmRef,
    user: z.optional(z.string().check(z.minLength(1))),
    password_from_env: z.optional(z.string().check(z.minLength(1))),
    forget: z._default(z.boolean(), false),
  },
  positional: ["vm"],
  help: {
    user: "The account of the guest",
    password_from_env: "The variable that holds its password",
    forget: "Remove what is stored",
  },
  output: GuestCredential,
  uses: ["driver", "vm"],
  feature: "guest",
  async handle({ user, password_from_env: variable, forget }, { driver, host, vm, signal }) {
    const folder = driver.guestFolder?.(vm.id);
    if (folder === undefined) {
      throw new HvError("hv.unsupported", `The driver "${driver.name}" stores no logins`, {
        hint: "Set HVLAB_GUEST_USER and HVLAB_GUEST_PASSWORD where hvlab is started",
        context: { driver: driver.name },
      });
    }
    const place = { host, folder, key: vm.id, store: driver.secrets };
    if (forget) {
      return { vm: vm.id, stored: false, forgotten: await forgetCredential(place, user, signal) };
    }
    if (user === undefined || variable === undefined) {
      throw new HvError("hv.usage", "An account and the variable with its password are wanted", {
        hint: "Give --user and --password-from-env, or --forget",
      });
    }
    const password = await readPassword(host, variable);
    if (password === undefined) {
      throw new HvError("hv.usage", `The variable "${variable}" holds no password`, {
        hint: `Set ${variable} where hvlab is started`,
        context: { variable },
      });
    }
    const stored_in = await storeCredential(place, { user, password }, signal);
    return { vm: vm.id, stored: true, user, stored_in };
  },
});
