import * as z from "zod/mini";
import { HvError } from "../../base/errors.ts";
import { inputJsonSchema } from "../json_schema.ts";
import { defineTool, type Tool } from "../tool.ts";

const Found = z.object({
  name: z.string(),
  class: z.string(),
  family: z.string(),
  summary: z.string(),
  input: z.optional(z.record(z.string(), z.unknown())),
});

/** Finds tools that are not listed, and gives one tool's exact input schema. */
export default defineTool({
  name: "tools_search",
  family: "meta",
  class: "R",
  summary: "Find tools by words, or get one tool's exact schema",
  input: { query: z.optional(z.string()), tool: z.optional(z.string()) },
  positional: ["query"],
  output: z.object({ tools: z.array(Found) }),
  uses: ["catalogue"],
  async handle({ query, tool: name }, { catalogue }) {
    if (name !== undefined) {
      const tool = await catalogue.load(name);
      return { tools: [{ ...entryOf(tool), input: inputJsonSchema(tool) }] };
    }
    if (query === undefined) {
      throw new HvError("hv.usage", "Neither a query nor a tool was given", { hint: "Give query or tool" });
    }
    const words = query.toLowerCase().split(/[\s_]+/).filter((word) => word !== "");
    const ranked = (await catalogue.loadAll())
      .map((tool) => ({ tool, score: scoreOf(tool, words) }))
      .filter(({ score }) => score > 0)
      .sort((a, b) => b.score - a.score || (a.tool.name < b.tool.name ? -1 : 1));
    return { tools: ranked.map(({ tool }) => entryOf(tool)) };
  },
});

function entryOf({ name, family, summary, class: toolClass }: Tool): z.infer<typeof Found> {
  return { name: `hv_${name}`, class: toolClass, family, summary };
}

/** A word in the name weighs more than one in the summary. */
function scoreOf(tool: Tool, words: readonly string[]): number {
  let score = 0;
  for (const word of words) {
    if (tool.name.includes(word)) score += 3;
    else if (tool.summary.toLowerCase().includes(word)) score += 1;
  }
  return score;
}
