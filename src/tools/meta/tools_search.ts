import * as z from "zod/mini";
import { HvError } from "../../base/errors.ts";
import { inputJsonSchema } from "../json_schema.ts";
import { defineTool } from "../define_tool.ts";
import type { Tool } from "../tool.ts";
import { SYNONYMS } from "./synonyms.ts";

const Found = z.object({
  name: z.string(),
  class: z.string(),
  family: z.string(),
  summary: z.string(),
  input: z.optional(z.record(z.string(), z.unknown())),
});

/** Every word is held against every tool, so that a text without end would keep all other calls waiting. */
const LONGEST_QUERY = 1000;

/** Finds tools that are not listed, and gives one tool's exact input schema. */
export default defineTool({
  name: "tools_search",
  family: "meta",
  class: "R",
  summary: "Find tools by words, or get one tool's exact schema",
  input: { query: z.optional(z.string().check(z.maxLength(LONGEST_QUERY))), tool: z.optional(z.string()) },
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
    const words = wordsOf(query);
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

/** Shorter words begin too many others: "run" stands in a summary only as itself, not as "running". */
const STEM_LENGTH = 4;

/** A word in the name weighs more than one in the summary, and the word itself more than one that means it. */
function scoreOf({ name, summary }: Tool, words: readonly string[]): number {
  const own = wordsOf(name);
  const told = wordsOf(summary);
  const weigh = (word: string, inName: number, inSummary: number): number => {
    if (own.some((other) => other.startsWith(word))) return inName;
    const isTold = told.some((other) =>
      other === word || (word.length >= STEM_LENGTH && other.startsWith(word))
    );
    return isTold ? inSummary : 0;
  };
  return words.reduce((score, word) => {
    const meant = meaningsOf(word).map((other) => weigh(other, 2, 0));
    return score + Math.max(weigh(word, 4, 1), ...meant);
  }, 0);
}

function meaningsOf(word: string): readonly string[] {
  return SYNONYMS.get(word) ?? SYNONYMS.get(word.replace(/s$/, "")) ?? [];
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().split(/[^\p{L}\p{N}]+/u).filter((word) => word !== "");
}
