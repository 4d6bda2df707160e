/** What debuggers printed for real crashes, read into our fields. */

import assert from "node:assert/strict";
import * as fc from "fast-check";
import type { Opinion } from "../../../../src/contract/dump_analyze.ts";
import { compareOpinions } from "../../../../src/debugger/analyze/compare.ts";
import { debuggerName, debuggerOpinion } from "../../../../src/debugger/analyze/opinions.ts";
import { parsePlace, parseStack } from "../../../../src/debugger/analyze/parse_stack.ts";
import { hasSample, readSample } from "../../../support/shared_samples.ts";

const FOLDER = "hyperv/analyze";

function read(name: string): Opinion {
  const text = new TextDecoder().decode(readSample(`${FOLDER}/${name}.txt`));
  return debuggerOpinion({ banner: "", of: (command) => command === "!analyze -v" ? text : "", whole: text });
}

interface Expected {
  bugcheck?: string;
  first_argument?: string;
  exception?: [code: string, address: string];
  module: string | null;
  symbol: string | null;
  process: string | null;
  bucket: string | null;
  version?: string;
  os_version?: string;
  frames: number;
  frame: [index: number, module: string | null, symbol: string | undefined, offset: string];
}

const EXPECTED: Record<string, Expected> = {
  "01-user-av-native-2026": {
    exception: ["0xc0000005", "0x00007ff719493489"],
    module: "sample-gui.exe",
    symbol: "sample_gui+bc3489",
    process: "sample-gui.exe",
    bucket: "INVALID_POINTER_READ_c0000005_sample-gui.exe!Unknown",
    os_version: "10.0.19041.1",
    frames: 5,
    frame: [3, "kernel32", "BaseThreadInitThunk", "0x14"],
  },
  "02-kernel-13a-heap-hyperv-guest": {
    bugcheck: "0x13a",
    first_argument: "0x0000000000000012",
    module: "Driver.sys",
    symbol: "Driver!CreateRandomFile+13b",
    process: "System",
    bucket: "0x13a_12_Driver!CreateRandomFile",
    os_version: "10.0.22621.1928",
    frames: 6,
    frame: [3, "Driver", "CreateRandomFile", "0x13b"],
  },
  "03-kernel-d1-netio-triage-dump": {
    bugcheck: "0xd1",
    first_argument: "0x0000000000000008",
    module: "NETIO.SYS",
    symbol: "NETIO!StreamInvokeCalloutAndNormalizeAction+5c",
    process: "SampleTool.exe",
    bucket: "AV_NETIO!StreamInvokeCalloutAndNormalizeAction",
    version: "10.0.26100.4768",
    frames: 5,
    frame: [0, "nt", "KeBugCheckEx", "0x0"],
  },
  "04-user-clr-2020-long-form": {
    exception: ["0xe0434352", "0x00007ffcb7e7908c"],
    module: "System.Windows.Forms.dll",
    symbol: "System_Windows_Forms_ni!System.Windows.Forms.Control.MarshaledInvoke+2c1173",
    process: null,
    bucket:
      "CLR_EXCEPTION_System.InvalidOperationException_80131509_System.Windows.Forms.dll!System.Windows.Forms.Control.MarshaledInvoke",
    frames: 3,
    frame: [0, "System_Windows_Forms_ni", "System.Windows.Forms.Control.MarshaledInvoke", "0x3d3"],
  },
  "05-user-break-x86-classic": {
    exception: ["0x80000003", "0x77f97704"],
    module: "MyApp.exe",
    symbol: "MyApp!FatalErrorBox+55",
    process: "MyApp.exe",
    bucket: "80000003_MyApp!FatalErrorBox+55",
    frames: 3,
    frame: [1, "MyApp", "FatalErrorBox", "0x55"],
  },
  "06-kernel-d1-usbport-x86-classic": {
    bugcheck: "0xd1",
    first_argument: "0x00000004",
    module: "USBPORT.SYS",
    symbol: "USBPORT!USBPORT_BadRequestFlush+7c",
    process: null,
    bucket: "0xD1_W_USBPORT!USBPORT_BadRequestFlush+7c",
    frames: 3,
    frame: [2, "nt", "KiTimerListExpire", "0xf3"],
  },
  "07-kernel-7e-driver-no-symbols": {
    bugcheck: "0x7e",
    first_argument: "0xffffffffc0000005",
    exception: ["0xc0000005", "0xfffff8076624f3d4"],
    module: "EvilDriver.sys",
    symbol: "EvilDriver+115b",
    process: "System",
    bucket: "AV_EvilDriver!unknown_function",
    frames: 4,
    frame: [2, "EvilDriver", undefined, "0x115b"],
  },
  "08-kernel-50-live-2020": {
    bugcheck: "0x50",
    first_argument: "0xffff93901618a05f",
    module: "srvnet.sys",
    symbol: "srvnet!SmbCompressionDecompress+dd",
    process: null,
    bucket: null,
    frames: 5,
    frame: [2, "nt", "RtlDecompressBufferLZNT1", "0x57"],
  },
  "09-kernel-c4-verifier-x86": {
    bugcheck: "0xc4",
    first_argument: "0x00092003",
    module: "NdisTimedOidComplete.sys",
    symbol: null,
    process: "System",
    bucket: "WIN8_DRIVER_FAULT",
    frames: 4,
    frame: [2, "VerifierExt", "SLIC_StatefulAbort", "0x1a4"],
  },
  "10-user-failfast-2024": {
    exception: ["0xc0000409", "0x00007ff7bd1c3649"],
    module: null,
    symbol: null,
    process: "Sample.exe",
    bucket: "FAIL_FAST_FATAL_APP_EXIT_c0000409_Sample.exe!Unknown",
    frames: 0,
    frame: [0, null, undefined, ""],
  },
};

for (const [name, expected] of Object.entries(EXPECTED)) {
  Deno.test({
    name: `the real output ${name} says what a person reads in it`,
    ignore: !hasSample(FOLDER),
    fn() {
      const opinion = read(name);
      assert.equal(opinion.bugcheck?.code, expected.bugcheck);
      assert.equal(opinion.bugcheck?.arguments[0], expected.first_argument);
      const { exception } = opinion;
      assert.deepEqual(
        exception === null ? undefined : [exception.code, exception.address],
        expected.exception,
      );
      for (const field of ["module", "symbol", "process", "bucket"] as const) {
        assert.equal(opinion[field], expected[field], field);
      }
      if (expected.version !== undefined) assert.equal(opinion.version, expected.version);
      if (expected.os_version !== undefined) assert.equal(opinion.os_version, expected.os_version);
      assert.equal(opinion.stack.length, expected.frames);
      if (expected.frames === 0) return;
      const [index, module, symbol, offset] = expected.frame;
      const frame = opinion.stack[index];
      assert.deepEqual([frame?.module, frame?.symbol, frame?.offset], [module, symbol, offset]);
    },
  });
}

Deno.test({
  name: "a real output cut anywhere gives less, never something else",
  ignore: !hasSample(FOLDER),
  fn() {
    const text = new TextDecoder().decode(readSample(`${FOLDER}/07-kernel-7e-driver-no-symbols.txt`));
    const whole = read("07-kernel-7e-driver-no-symbols");
    fc.assert(fc.property(fc.nat(text.length), fc.constantFrom("\n", "\r\n"), (length, end) => {
      const lines = text.slice(0, length).split("\n").slice(0, -1).join(end);
      const cut = debuggerOpinion({
        banner: "",
        of: (command) => command === "!analyze -v" ? lines : "",
        whole: lines,
      });
      assert(cut.bugcheck === null || cut.bugcheck.code === whole.bugcheck?.code);
      for (const field of ["module", "symbol", "process"] as const) {
        assert(cut[field] === null || cut[field] === whole[field] || field === "module");
      }
      assert.deepEqual(cut.stack, whole.stack.slice(0, cut.stack.length));
    }));
  },
});

Deno.test("frames are read with and without arguments, numbers, symbols and sources", () => {
  const frames = parseStack([
    "Child-SP          RetAddr               Call Site",
    "00 ffffd000`12343718 fffff800`10001101     nt!KeBugCheckEx",
    "ffffd000`12343b58 fffff800`200010b9     : 00000000`00000001 ???????? : evil!A<int>::f+0x3d [C:\\s\\evil.c @ 17]",
    "(Inline Function) --------`--------     evil!EvilInlined+0xd [/tmp/evil.c @ 19]",
    "f8950e90 f83206e0 024c7262 00000000 f8950edc USBPORT!Bad+0x7c",
    "ffff8504`29890ef8 ffffffff`c0000005     0x7e",
    "ffffd000`12345f68 00000000`00000000     <Unloaded_gone.sys>+0x1234",
    "Loading symbols for fffff800`10000000",
    "00000000`00000000 00000000`00000000     0x0",
    "ffffd000`12345f68 00000000`00000000     behind+0x1",
  ].join("\r\n"));
  assert.deepEqual(frames.map(({ module, symbol, offset, source }) => [module, symbol, offset, source]), [
    ["nt", "KeBugCheckEx", "0x0", undefined],
    ["evil", "A<int>::f", "0x3d", "evil.c:17"],
    ["evil", "EvilInlined", "0xd", "evil.c:19"],
    ["USBPORT", "Bad", "0x7c", undefined],
    [null, undefined, "0x7e", undefined],
    ["<Unloaded_gone.sys>", undefined, "0x1234", undefined],
  ]);
  assert.equal(parsePlace("nothing of the kind"), null);
});

Deno.test("only what both tell, and tell differently, is a disagreement", () => {
  const base: Opinion = {
    os_version: "10.0.19041",
    bugcheck: { code: "0x1000007e", name: null, arguments: ["0xffffffffc0000005"] },
    exception: { code: "0xc0000005", address: "0xfffff80020001000" },
    module: "sample-gui.exe",
    symbol: null,
    version: null,
    process: "a-rather-long-name.exe",
    bucket: "ours",
    module_count: 3,
    stack: [{ module: "evil", symbol: "f", offset: "0x1" }, { module: "nt", offset: "0x10" }],
  };
  const same: Opinion = {
    ...base,
    os_version: "10.0.19041.1",
    bugcheck: { code: "0x7e", name: "X", arguments: ["0xFFFFFFFFC0000005"] },
    module: "sample_gui",
    process: "a-rather-long-n",
    bucket: "theirs",
    stack: [
      { module: "nt", symbol: "KeBugCheckEx", offset: "0x0" },
      { module: "EVIL", symbol: "f", offset: "0x1" },
      { module: "nt", symbol: "g", offset: "0x7" },
      { module: "nt", symbol: "h", offset: "0x7" },
    ],
  };
  assert.deepEqual(compareOpinions(base, same), []);
  const silent: Opinion = {
    ...base,
    bugcheck: null,
    exception: null,
    module: null,
    process: null,
    stack: [],
  };
  assert.deepEqual(compareOpinions(base, { ...silent, module_count: null, os_version: null }), []);
  const other: Opinion = {
    ...base,
    exception: { code: "0xc0000005", address: "0x1" },
    module: "nt",
    module_count: 4,
    stack: [{ module: "evil", symbol: "f", offset: "0x1" }, { module: "nt", offset: "0x20" }],
  };
  assert.deepEqual(compareOpinions(base, other).map(({ field }) => field), [
    ...["exception.address", "module", "module_count", "stack.1"],
  ]);
  assert.equal(debuggerName("ntoskrnl.exe"), "nt");
  assert.equal(debuggerName("ntdll.dll"), "ntdll");
});
