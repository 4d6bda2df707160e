/** Bug checks whose arguments point to a record of what happened, or are the record themselves. */

/** Numbers of the arguments (1 to 4) that are addresses of records. */
export interface ArgumentRoles {
  readonly exceptionRecord?: number;
  readonly context?: number;
  readonly trapFrame?: number;
  /** The argument that is the exception's code; the one behind it is its address. */
  readonly exceptionCode?: number;
}

/** From the public bug check pages. */
const ROLES: ReadonlyMap<number, ArgumentRoles> = new Map<number, ArgumentRoles>([
  [0x1E, { exceptionCode: 1 }],
  [0x23, { exceptionRecord: 2, context: 3 }],
  [0x24, { exceptionRecord: 2, context: 3 }],
  [0x26, { exceptionRecord: 2, context: 3 }],
  [0x27, { exceptionRecord: 2, context: 3 }],
  [0x2B, { trapFrame: 1 }],
  [0x30, { trapFrame: 3 }],
  [0x3B, { exceptionCode: 1, context: 3 }],
  [0x3D, { exceptionRecord: 1, context: 2 }],
  [0x7E, { exceptionCode: 1, exceptionRecord: 3, context: 4 }],
  [0x8E, { exceptionCode: 1, trapFrame: 3 }],
  [0x9B, { exceptionRecord: 2, context: 3 }],
  [0x108, { exceptionRecord: 2, context: 3 }],
  [0x10F, { exceptionRecord: 1, context: 2 }],
  [0x12C, { exceptionRecord: 2, context: 3 }],
  [0x135, { context: 2 }],
  [0x139, { trapFrame: 2, exceptionRecord: 3 }],
  [0x151, { trapFrame: 2 }],
  [0x1AA, { context: 3, exceptionRecord: 4 }],
  [0x1AB, { context: 3 }],
]);

/** Some codes have a second form with this bit, from machines without full dumps; their arguments are the same. */
const MINIDUMP_FORM = 0xEFFF_FFFF;

/** What the arguments of a bug check point to; empty for codes whose arguments point to nothing of the kind. */
export function argumentRoles(code: number): ArgumentRoles {
  return ROLES.get(code) ?? ROLES.get((code & MINIDUMP_FORM) >>> 0) ?? {};
}
