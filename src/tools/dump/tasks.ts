import * as z from "zod/mini";
import { ListLimit } from "../../contract/arguments.ts";
import { DumpTasks, TaskState } from "../../contract/dump_tasks.ts";
import { Path } from "../../contract/path.ts";
import { listDumpTasks, renderDumpTasks } from "../../debugger/linux/list_tasks.ts";
import { defineTool } from "../define_tool.ts";

/** Lists the tasks of a Linux machine out of its core, with their stacks on request. */
export default defineTool({
  name: "dump_tasks",
  family: "dump",
  class: "R",
  summary: "List the tasks of a Linux core: pid, name, state, CPU, stack",
  input: {
    path: Path,
    stacks: z._default(z.boolean(), false),
    task_state: z.optional(TaskState),
    pid: z.optional(z.int().check(z.minimum(0))),
    limit: z._default(ListLimit, 1000),
  },
  positional: ["path"],
  help: {
    stacks: "Add each task's stack",
    task_state: "Only tasks in this state: R running, S sleeping, D waiting, T stopped, Z ended, I idle",
    pid: "Only this task or process",
  },
  output: DumpTasks,
  without: ["run", "net", "env", "sys", "write"],
  handle: ({ path, stacks, task_state: state, pid, limit }, { host, signal }) =>
    listDumpTasks(host.files, host.clock, { path, stacks, state, pid, limit, signal }),
  render: renderDumpTasks,
});
