/** Decides which image to blame, and says by which rule and how surely. */

import { hex } from "../numbers.ts";
import type { LoadedModule, UnloadedModule } from "../modules.ts";
import type { DumpSession } from "../session.ts";
import type { Frame } from "../unwind/frame.ts";
import type { ScannedWord } from "../unwind/scan.ts";
import { readPointer } from "../windows/context.ts";
import { blamelessReason, codeAddressArgument } from "./argument_addresses.ts";
import { isCoreModule } from "./core_modules.ts";
import { findBlockingDriver } from "./device_stack.ts";
import { familyOf } from "./families.ts";

/** How surely. */
export type Confidence = "high" | "medium" | "low";

/** The rule that decided, surest first. */
export type BlameRule =
  | "device_stack"
  | "bugcheck_argument"
  | "exception_address"
  | "context"
  | "verifier"
  | "stack"
  | "corruption"
  | "scan"
  | "kernel";

/** An image to blame. */
export interface Blame {
  readonly module: LoadedModule | null;
  /** The image is gone; `module` is null then. */
  readonly unloaded: UnloadedModule | null;
  /** The address that leads to it; null when none does. */
  readonly address: bigint | null;
  readonly confidence: Confidence;
  readonly rule: BlameRule;
  readonly evidence: string;
}

/** Addresses below this belong to nobody: a call through a null pointer. */
const NULL_CALL_LIMIT = 0x1_0000n;

/** A candidate before it is known whose address it is. */
interface Candidate {
  readonly address: bigint;
  readonly rule: BlameRule;
  readonly evidence: string;
}

/** The image to blame; null when the dump blames none. `frames` begin at the best context. */
export function findBlame(
  session: DumpSession,
  frames: readonly Frame[],
  scanned: readonly ScannedWord[],
): Blame | null {
  if (session.mode === "user" && session.exception === null) return null;
  const kernel = session.mode === "kernel" ? session.modules.all[0]?.name ?? null : null;
  const isCore = (module: LoadedModule) => isCoreModule(session.mode, module.name, kernel);
  if (session.mode === "kernel" && session.bugCheck !== null) {
    const { code, parameters } = session.bugCheck;
    if (blamelessReason(code, parameters[0]) !== null) return null;
    const blocking = findBlockingDriver(session.memory, session.modules, session.bugCheck);
    if (blocking !== null) {
      const name = blocking.driverName === null ? "its driver" : `driver ${blocking.driverName}`;
      const { major, minor } = blocking.request;
      return {
        module: blocking.module,
        unloaded: null,
        address: null,
        confidence: "high",
        rule: "device_stack",
        evidence: `${name} holds the blocked request (major ${hex(major)}, minor ${hex(minor)})`,
      };
    }
  }
  const candidates = directCandidates(session);
  for (const { address, rule, evidence } of candidates) {
    const module = session.modules.at(address);
    if (module !== null && !isCore(module)) {
      return { module, unloaded: null, address, confidence: "high", rule, evidence };
    }
    const unloaded = module === null ? findUnloaded(session, address) : null;
    if (unloaded !== null) {
      const gone = `${evidence}, in the range of an unloaded image: executed after unload`;
      return { module: null, unloaded, address, confidence: "high", rule, evidence: gone };
    }
  }
  for (const [index, frame] of frames.entries()) {
    const address = frame.exact ? frame.address : frame.address - 1n;
    const module = session.modules.at(address);
    if (module !== null && !isCore(module)) {
      return { module, unloaded: null, address: frame.address, ...verdictOnStack(session, index) };
    }
  }
  const word = scanned.find(({ module }) => !isCore(module));
  if (word !== undefined) {
    return {
      module: word.module,
      unloaded: null,
      address: word.address,
      confidence: "low",
      rule: "scan",
      evidence: "first word on the stack that lies in an image which is not the system's own",
    };
  }
  return blameSystem(session, candidates, frames);
}

/** What the first foreign frame is worth depends on the stop. */
function verdictOnStack(
  session: DumpSession,
  index: number,
): Pick<Blame, "confidence" | "rule" | "evidence"> {
  const family = session.mode === "kernel" && session.bugCheck !== null
    ? familyOf(session.bugCheck.code)
    : null;
  const frame = `first frame that is not the system's own (frame ${index})`;
  if (family === "verifier") {
    return { confidence: "high", rule: "verifier", evidence: `the verifier stopped it in the act: ${frame}` };
  }
  if (family === "corruption") {
    const evidence = `memory had been spoilt before, and this may only have found it: ${frame}`;
    return { confidence: "low", rule: "corruption", evidence };
  }
  return { confidence: "medium", rule: "stack", evidence: frame };
}

/** Nothing but the system's own: the image of the surest address, else the kernel. */
function blameSystem(
  session: DumpSession,
  candidates: readonly Candidate[],
  frames: readonly Frame[],
): Blame | null {
  const rest = { unloaded: null, confidence: "low" as const };
  for (const { address, rule, evidence } of candidates) {
    const module = session.modules.at(address);
    if (module !== null) return { ...rest, module, address, rule, evidence };
  }
  const top = frames.map(({ address }) => ({ address, module: session.modules.at(address) }))
    .find(({ module }) => module !== null);
  const module = top?.module ?? (session.mode === "kernel" ? session.modules.all[0] ?? null : null);
  if (module === null) return null;
  const rule = session.mode === "kernel" ? "kernel" : "stack";
  return { ...rest, module, address: top?.address ?? null, rule, evidence: "nothing else is on the stack" };
}

function directCandidates(session: DumpSession): Candidate[] {
  const candidates: Candidate[] = [];
  const add = (address: bigint | undefined, rule: BlameRule, evidence: string) => {
    if (address === undefined || address === 0n) return;
    if (address >= NULL_CALL_LIMIT) candidates.push({ address, rule, evidence });
  };
  if (session.mode === "kernel" && session.bugCheck !== null) {
    const argument = codeAddressArgument(session.bugCheck.code);
    if (argument !== null) {
      add(
        session.bugCheck.parameters[argument - 1],
        "bugcheck_argument",
        `argument ${argument} of the bug check is an address in it`,
      );
    }
  }
  const { exception } = session;
  if (exception !== null && !exception.synthetic) {
    add(exception.address, "exception_address", "the exception was raised in it");
  }
  const context = session.contexts[0];
  if (
    context !== undefined && context.origin !== "processor" && context.origin !== "thread" &&
    exception !== null
  ) {
    const { programCounter, stackPointer } = context.registers;
    if (programCounter < NULL_CALL_LIMIT) {
      add(
        readPointer(session.memory, context.registers.machine, stackPointer),
        "context",
        `it called the null address ${hex(programCounter)}`,
      );
    } else add(programCounter, "context", "the interrupted instruction is in it");
  }
  return candidates;
}

/** The unloaded image whose range an address lies in. */
export function findUnloaded(session: DumpSession, address: bigint): UnloadedModule | null {
  return session.unloaded.find(({ start, end }) => address >= start && address < end) ?? null;
}
