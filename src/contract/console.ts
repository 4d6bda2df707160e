/** What a VM's console shows and takes. */

import * as z from "zod/mini";

/** What a screen showed. */
export const Screenshot = z.object({
  /** The VM's id. */
  vm: z.string(),
  width: z.int(),
  height: z.int(),
  /** The size of the PNG file. */
  size_bytes: z.int(),
  /** Where the file was written. */
  output: z.optional(z.string()),
  /** The file itself when it was written nowhere; over MCP it is an image of the answer instead. */
  png_base64: z.optional(z.string()),
});
export type Screenshot = z.infer<typeof Screenshot>;

/** A part of what a guest wrote to its serial line. Offsets count bytes since its last start. */
export const SerialText = z.object({
  vm: z.string(),
  /** The bytes as UTF-8; what is none becomes U+FFFD. */
  text: z.string(),
  /** Where the text begins. */
  offset: z.int(),
  /** Where the next read goes on. */
  next_offset: z.int(),
  /** How much was written so far. */
  size_bytes: z.int(),
  /** Whether more follows than was read. */
  truncated: z.optional(z.boolean()),
  /** How much of what was asked for is no longer kept. */
  dropped_bytes: z.optional(z.int()),
});
export type SerialText = z.infer<typeof SerialText>;

/** What a wait for the console saw. */
export const ConsoleWait = z.object({
  vm: z.string(),
  /** False when the time of an early answer ran out first: call again. */
  reached: z.boolean(),
  /** The line of the serial log with the text that was waited for, and where that begins. */
  line: z.optional(z.string()),
  offset: z.optional(z.int()),
  /** For how long the screen has shown the same. */
  settled_s: z.optional(z.number()),
});
export type ConsoleWait = z.infer<typeof ConsoleWait>;
