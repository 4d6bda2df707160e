/** What goes wrong on the way into a guest through its agent, in the codes of hvlab. */

import { HvError } from "../../../base/errors.ts";
import type { AgentAnswer, AgentCommand } from "./protocol.ts";

/** Nobody has answered so far: a booting guest, or one without an agent. */
export function notReady(waitedMs: number, patienceMs: number, connected: boolean): HvError {
  const waited = seconds(waitedMs);
  const state = connected ? "its agent does not answer" : "nobody listens on its agent's socket";
  return new HvError(
    "hv.guest_not_ready",
    `The guest is not ready: ${state}, waited ${waited} of ${seconds(patienceMs)} s`,
    {
      hint: connected
        ? "Wait with `hvlab vm wait --until heartbeat`; when that never ends, install the agent in the image, or end the program that holds its socket"
        : "Start the VM, or look whether it still runs",
      context: { waited_s: waited, patience_s: seconds(patienceMs), connected },
    },
  );
}

/** The connection failed, or went silent, after requests had been sent. */
export function linkBroke(commands: readonly AgentCommand[], error: Error, changes: boolean): HvError {
  const names = [...new Set(commands.map(({ name }) => name))];
  const details = { context: { commands: names, reason: error.message }, cause: error };
  const message = `The guest agent gave no answer to ${names.join(", ")}: ${error.message}`;
  return changes
    ? new HvError("hv.outcome_unknown", message, {
      ...details,
      hint: "The guest may have done it or not: look at its state before trying again",
    })
    : new HvError("hv.guest_not_ready", message, {
      ...details,
      hint: "Look at the VM's state and try again",
    });
}

/** The agent could not be reached any more in the midst of some work: what came of it cannot be seen. */
export function lostWithinWork(commands: readonly AgentCommand[], error: unknown): unknown {
  if (!(error instanceof HvError && error.code === "hv.guest_not_ready")) return error;
  return linkBroke(commands, error, true);
}

export function guestCrashed(reason: string): HvError {
  return new HvError("hv.guest_crashed", `The guest has crashed: ${reason}`, { context: { reason } });
}

/**
 * The agent said no. QEMU's agent reports a command that it does not know, one that its settings forbid and any
 * one asked for while its file systems are frozen with the same class, and tells them apart in words only.
 */
export function refused(command: string, answer: AgentAnswer & { ok: false }): HvError {
  const context = { command, class: answer.errorClass, reason: answer.text };
  if (answer.errorClass !== "CommandNotFound") {
    return new HvError("hv.io", `The guest agent failed at ${command}: ${answer.text}`, { context });
  }
  if (/frozen/i.test(answer.text)) {
    return new HvError(
      "hv.conflict",
      `The guest's file systems are frozen, so its agent refuses ${command}`,
      {
        hint: "Let the backup that froze them end, or thaw them",
        context: { ...context, wanted: "thawed", found: "frozen" },
      },
    );
  }
  return new HvError("hv.guest_denied", `The guest agent is up and forbids ${command}: ${answer.text}`, {
    hint:
      `Allow ${command} in the guest: "block-rpcs" or "allow-rpcs" ("blacklist" before QEMU 8) in /etc/qemu/qemu-ga.conf, ` +
      "BLACKLIST_RPC or FILTER_RPC_ARGS in /etc/sysconfig/qemu-ga; then restart the agent",
    context,
  });
}

function seconds(milliseconds: number): number | null {
  return Number.isFinite(milliseconds) ? Math.round(milliseconds / 100) / 10 : null;
}
