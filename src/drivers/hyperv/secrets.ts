/** Windows Credential Manager, through the sidecar: a password travels in its pipe and nowhere else. */

import * as z from "zod/mini";
import { HvError } from "../../base/errors.ts";
import type { SecretStore } from "../../guest/credentials.ts";
import type { HyperV } from "./client.ts";

/** The store of the account that hvlab runs under. */
export function openSecrets(hyperv: HyperV): SecretStore {
  return {
    name: "credential_manager",
    async write(key, user, secret, signal) {
      const answer = z.object({ stored: z.boolean() });
      const args = { target: targetOf(key, user), user, secret };
      const { stored } = await hyperv.ask(answer, "write_secret", args, { signal });
      if (stored) return;
      throw new HvError("hv.unavailable", "Windows Credential Manager does not keep what it is given", {
        hint: "Set HVLAB_GUEST_USER and HVLAB_GUEST_PASSWORD where hvlab is started",
        context: { user },
      });
    },
    async read(key, user, signal) {
      const answer = z.object({ secret: z.nullable(z.string()) });
      const args = { target: targetOf(key, user) };
      return (await hyperv.ask(answer, "read_secret", args, { signal })).secret ?? undefined;
    },
    async remove(key, user, signal) {
      const answer = z.object({ removed: z.boolean() });
      await hyperv.ask(answer, "remove_secret", { target: targetOf(key, user) }, { signal });
    },
  };
}

/** As Windows lists it. */
function targetOf(key: string, user: string): string {
  return `hvlab:${key}/${user}`;
}
