import assert from "node:assert/strict";
import { HvError } from "../../../../src/base/errors.ts";
import { parseBugcheckTable } from "../../../../src/dump/bugchecks/parse_table.ts";

const TABLE = `
0x1F MADE_UP live MADE_UP_LIVEDUMP | Something went wrong
  live | Something went wrong; the system went on
  page | bug-check-0x1f---made-up
  arguments | Kind | - | $Status | Detail
  value 4 = 0x2 | second
  when 1 = 0x5, 0x10..0x1F and 3 = 0x0 | fifth | Address | Zero | -
  when 1 = 0x6 | =Six of them | - | - | -
0x20 live ONLY_LIVE | Nothing crashed
`;

Deno.test("a table gives its entries with every fact", () => {
  const [first, second] = parseBugcheckTable(TABLE);
  assert.deepEqual(first, {
    code: 0x1F,
    name: "MADE_UP",
    liveName: "MADE_UP_LIVEDUMP",
    description: "Something went wrong",
    liveDescription: "Something went wrong; the system went on",
    page: "bug-check-0x1f---made-up",
    arguments: [
      { text: "Kind", isStatus: false },
      { text: null, isStatus: false },
      { text: "Status", isStatus: true },
      { text: "Detail", isStatus: false },
    ],
    variants: [
      {
        conditions: [
          { argument: 1, ranges: [[5n, 5n], [0x10n, 0x1Fn]] },
          { argument: 3, ranges: [[0n, 0n]] },
        ],
        arguments: [
          { text: "Kind: fifth", isStatus: false },
          { text: "Address", isStatus: false },
          { text: "Zero", isStatus: false },
          { text: null, isStatus: false },
        ],
      },
      {
        conditions: [{ argument: 1, ranges: [[6n, 6n]] }],
        arguments: [
          { text: "Six of them", isStatus: false },
          { text: null, isStatus: false },
          { text: null, isStatus: false },
          { text: null, isStatus: false },
        ],
      },
    ],
    values: [{ argument: 4, value: 2n, text: "Detail: second" }],
  });
  assert.equal(second?.name, null);
  assert.equal(second?.liveName, "ONLY_LIVE");
  assert.equal(second?.liveDescription, "Nothing crashed");
  assert.equal(second?.page, "bug-check-0x20--only-live");
});

Deno.test("a line of another form is refused and quoted", () => {
  const wrong = [
    "  live | before any code",
    "0x1 | no name",
    "0x1 NAME",
    "0x1 lower_case | text",
    "0x1 NAME | text | too much",
    "0x1 NAME | text\n  arguments | three | are | few",
    "0x1 NAME | text\n  arguments | five | are | too | many | here",
    "0x1 NAME | text\n  value 5 = 0x1 | there is no fifth argument",
    "0x1 NAME | text\n  value 1 = ten | not a number",
    "0x1 NAME | text\n  when 1 = 0x1 | meaning | only | two",
    "0x1 NAME | text\n  whatever | text",
  ];
  for (const table of wrong) {
    assert.throws(() => parseBugcheckTable(table), (error) => {
      assert.ok(error instanceof HvError);
      assert.equal(error.code, "hv.internal");
      assert.ok(error.message.includes((table.split("\n").at(-1) ?? "").trim()), error.message);
      return true;
    });
  }
});
