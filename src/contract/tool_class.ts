/** Safety classes of tools. */

/** R reads, M changes without loss, D loses something for good, X runs something inside a guest. */
export const TOOL_CLASSES = ["R", "M", "D", "X"] as const;
export type ToolClass = typeof TOOL_CLASSES[number];
