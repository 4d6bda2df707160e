/** What a behaviour of the contract suite works with: one driver behind the real pipeline, and shorthands. */

import * as z from "zod/mini";
import type { Clock } from "../../src/base/clock.ts";
import { HvError } from "../../src/base/errors.ts";
import type { JsonObject } from "../../src/base/json.ts";
import { type Config, DEFAULT_CONFIG } from "../../src/config/config.ts";
import { Checkpoint } from "../../src/contract/checkpoint.ts";
import { ExecResult, type ExecResult as ExecResultType } from "../../src/contract/guest.ts";
import { Plan } from "../../src/contract/plan.ts";
import { Vm } from "../../src/contract/vm.ts";
import type { Feature } from "../../src/drivers/driver.ts";
import type { openDriver } from "../../src/drivers/index.ts";
import { openDenoHost } from "../../src/host/deno_host.ts";
import { StateFolder } from "../../src/state/layout.ts";
import { Pipeline } from "../../src/tools/call.ts";
import { Session } from "../../src/tools/session.ts";
import { catalogue } from "../../src/tools/table.ts";
import type { CallOptions, DoorName } from "../../src/tools/tool.ts";

export interface LabOptions {
  /** Opens the driver under test. */
  openDriver: typeof openDriver;
  /** The image that behaviours start from. */
  image: string;
  /** What `vm_create` makes a VM from, for a driver without images; from the image when left out. */
  source?: JsonObject;
  /** Makes the image known in a new state folder. */
  prepare?: (lab: Lab) => Promise<void>;
  door?: DoorName;
  config?: Config;
  /** What the limits of its calls run on; the machine's own when left out. */
  clock?: Clock | undefined;
}

/** A state folder of its own with a pipeline on top; gone after the behaviour. */
export class Lab implements AsyncDisposable {
  readonly session: Session;
  readonly pipeline: Pipeline;
  readonly image: string;
  /** The arguments of `vm_create` that say what a VM is made from. */
  readonly source: JsonObject;
  readonly root: string;

  private constructor(
    root: string,
    { openDriver, image, source = { image }, door = "cli", config = DEFAULT_CONFIG, clock }: LabOptions,
  ) {
    this.root = root;
    this.image = image;
    this.source = source;
    this.session = new Session({
      host: { ...openDenoHost(), ...(clock && { clock }) },
      config,
      state: new StateFolder(`${root}/state`),
      door,
      catalogue,
      openDriver,
    });
    this.pipeline = new Pipeline(this.session);
  }

  static async open(options: LabOptions): Promise<Lab> {
    const lab = new Lab(await Deno.makeTempDir({ prefix: "hvlab-lab-" }), options);
    await options.prepare?.(lab);
    return lab;
  }

  async features(): Promise<ReadonlySet<Feature>> {
    return (await this.session.driver()).features;
  }

  /** Calls a tool to its end and gives its data. */
  async call(tool: string, args: JsonObject = {}, options: CallOptions = {}): Promise<JsonObject> {
    const surroundings = { signal: AbortSignal.timeout(CALL_LIMIT_MS), progress: () => {} };
    const answer = await this.pipeline.call({ tool, args, ...options }, surroundings);
    if (answer.kind === "done") return answer.result;
    throw new Error(`${tool} went on as ${answer.op}`);
  }

  /** The coded error that a call must fail with. */
  async failure(tool: string, args: JsonObject = {}, options: CallOptions = {}): Promise<HvError> {
    try {
      await this.call(tool, args, options);
    } catch (error) {
      if (error instanceof HvError) return error;
      throw error;
    }
    throw new Error(`${tool} was expected to fail`);
  }

  async vm(tool: string, args: JsonObject, options: CallOptions = {}): Promise<Vm> {
    return Vm.parse(await this.call(tool, args, options));
  }

  /** A lasting VM whose guest answers. */
  async running(name: string): Promise<Vm> {
    await this.call("vm_create", { name, ...this.source, memory_mb: 256 });
    return await this.vm("vm_start", { vm: name, until: "heartbeat" });
  }

  async sandbox(name: string): Promise<Vm> {
    return await this.vm("sandbox_create", { image: this.image, name, memory_mb: 256 });
  }

  async exec(vm: string, argv: string[], options: CallOptions = {}): Promise<ExecResultType> {
    return ExecResult.parse(await this.call("guest_exec", { vm, argv }, options));
  }

  /** Whether a file is in the guest. */
  async has(vm: string, path: string): Promise<boolean> {
    return (await this.exec(vm, ["ls", path])).exit_code === 0;
  }

  async checkpoint(vm: string, name: string, options: { memory_state: boolean }): Promise<Checkpoint> {
    return Checkpoint.parse(await this.call("checkpoint_create", { vm, name, ...options }));
  }

  async checkpoints(vm: string): Promise<Checkpoint[]> {
    const { checkpoints } = await this.call("checkpoint_list", { vm });
    return z.array(Checkpoint).parse(checkpoints);
  }

  async restore(vm: string, checkpoint: string): Promise<Vm> {
    const args = { vm, checkpoint };
    const { confirm } = await this.plan("checkpoint_restore", args);
    return await this.vm("checkpoint_restore", args, { confirm });
  }

  async plan(tool: string, args: JsonObject): Promise<Plan> {
    return Plan.parse(await this.call("plan", { tool, args }));
  }

  async names(): Promise<string[]> {
    const { vms } = await (await this.session.driver()).vms.list(AbortSignal.timeout(CALL_LIMIT_MS));
    return vms.map(({ name }) => name).sort();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      const driver = await this.session.driver();
      const scope = { signal: AbortSignal.timeout(CALL_LIMIT_MS), progress: () => {} };
      const { vms } = await driver.vms.list(scope.signal);
      for (const { id } of vms) await driver.vms.remove(id, scope);
    } finally {
      await this.session[Symbol.asyncDispose]();
      await Deno.remove(this.root, { recursive: true });
    }
  }
}

/** What takes longer hangs. */
const CALL_LIMIT_MS = 300_000;
