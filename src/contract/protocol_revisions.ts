/** The revisions of the Model Context Protocol that `hvlab mcp` speaks, oldest first. */
export const PROTOCOL_REVISIONS: readonly string[] = ["2025-11-25", "2026-07-28"];
