/** The one door to the outside: who may use Deno, Node, the clock, the terminal and the exit. */

import { isProduct, placeOf } from "./places.ts";

/** Node's modules that a folder outside `src/host` may use. */
const NODE_MODULES: readonly { module: string; folder: string }[] = [
  { module: "node:sqlite", folder: "src/state/" },
];

/** `Deno.*` stands in `src/host` only; `main.ts` may read its arguments and exit. */
export const denoRule: Deno.lint.Rule = {
  create(context) {
    const place = placeOf(context.filename);
    if (!isProduct(place) || place.startsWith("src/host/")) return {};
    return {
      MemberExpression(node) {
        if (node.object.type !== "Identifier" || node.object.name !== "Deno") return;
        const property = node.property.type === "Identifier" ? node.property.name : "";
        if (place === "main.ts" && (property === "args" || property === "exit")) return;
        context.report({ node, message: `Deno.${property} outside src/host`, hint: "Ask the host for it" });
      },
    };
  },
};

/** Node's modules stand in `src/host`, or where the table allows them; `node:path` stands nowhere. */
export const nodeRule: Deno.lint.Rule = {
  create(context) {
    const place = placeOf(context.filename);
    if (!isProduct(place)) return {};
    return onImports((module, node) => {
      if (!module.startsWith("node:")) return;
      if (module === "node:path") {
        context.report({
          node,
          message: "node:path costs 11 ms of start-up",
          hint: "Use src/base/paths.ts",
        });
        return;
      }
      if (place.startsWith("src/host/")) return;
      if (NODE_MODULES.some((row) => row.module === module && place.startsWith(row.folder))) return;
      context.report({ node, message: `${module} outside src/host`, hint: "Ask the host for it" });
    });
  },
};

/** The time is read in `src/host` only. */
export const clockRule: Deno.lint.Rule = {
  create(context) {
    const place = placeOf(context.filename);
    if (!isProduct(place) || place.startsWith("src/host/")) return {};
    const hint = "Take a Clock as an argument";
    return {
      CallExpression({ callee }) {
        if (callee.type !== "MemberExpression" || callee.object.type !== "Identifier") return;
        if (callee.property.type !== "Identifier" || callee.property.name !== "now") return;
        if (callee.object.name !== "Date" && callee.object.name !== "performance") return;
        context.report({ node: callee, message: `${callee.object.name}.now outside src/host`, hint });
      },
      NewExpression(node) {
        if (node.callee.type !== "Identifier" || node.callee.name !== "Date" || node.arguments.length > 0) {
          return;
        }
        context.report({ node, message: "new Date() without an argument outside src/host", hint });
      },
    };
  },
};

/** `console` stands in `src/cli` only, and where the terminal is: there it is turned away from stdout. */
export const printRule: Deno.lint.Rule = {
  create(context) {
    const place = placeOf(context.filename);
    if (!isProduct(place) || place.startsWith("src/cli/") || place === "src/host/terminal.ts") return {};
    return {
      MemberExpression(node) {
        if (node.object.type !== "Identifier" || node.object.name !== "console") return;
        context.report({ node, message: "Printing outside src/cli", hint: "Return data; the doors show it" });
      },
    };
  },
};

/** The process is ended by `main.ts` only. */
export const exitRule: Deno.lint.Rule = {
  create(context) {
    const place = placeOf(context.filename);
    if (!place.startsWith("src/")) return {};
    return {
      MemberExpression(node) {
        if (node.object.type !== "Identifier" || node.property.type !== "Identifier") return;
        const ends = node.object.name === "Deno" && /^exit(Code)?$/.test(node.property.name) ||
          node.object.name === "process" && /^(exit|exitCode|abort)$/.test(node.property.name);
        if (!ends) return;
        context.report({ node, message: "Ending the process outside main.ts", hint: "Throw an HvError" });
      },
    };
  },
};

/** Calls back for every static import, re-export and `import()` of a literal. */
export function onImports(
  visit: (module: string, node: Deno.lint.Node) => void,
): Deno.lint.LintVisitor {
  return {
    ImportDeclaration: (node) => visit(node.source.value, node),
    ExportNamedDeclaration: (node) => {
      if (node.source !== null) visit(node.source.value, node);
    },
    ExportAllDeclaration: (node) => visit(node.source.value, node),
    ImportExpression: (node) => {
      if (node.source.type === "Literal" && typeof node.source.value === "string") {
        visit(node.source.value, node);
      }
    },
  };
}
