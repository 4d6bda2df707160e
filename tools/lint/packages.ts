/** Packages that one place imports for all. */

import { onImports } from "./doors.ts";
import { isProduct, placeOf } from "./places.ts";

const DOORS: readonly { module: RegExp; door: string }[] = [
  { module: /^(npm:)?js-yaml\b/, door: "src/config/" },
  { module: /^(npm:)?@modelcontextprotocol\//, door: "src/mcp/sdk.ts" },
];

/** Keeps a package behind its one door, and zod in the form that a bundler can shake. */
export const packageRule: Deno.lint.Rule = {
  create(context) {
    const place = placeOf(context.filename);
    if (!isProduct(place)) return {};
    const visitor = onImports((module, node) => {
      const row = DOORS.find((candidate) => candidate.module.test(module));
      if (row !== undefined && !place.startsWith(row.door)) {
        context.report({ node, message: `"${module}" outside ${row.door}` });
      }
      if (/^(npm:)?zod\b/.test(module) && !isNamespaceOfMini(module, node)) {
        context.report({
          node,
          message: "zod other than as a namespace of zod/mini",
          hint: 'Write import * as z from "zod/mini"',
        });
      }
    });
    return {
      ...visitor,
      MemberExpression(node) {
        if (node.object.type !== "Identifier" || node.object.name !== "z") return;
        if (node.property.type !== "Identifier" || !/^(core|locales|util)$/.test(node.property.name)) return;
        context.report({
          node,
          message: `z.${node.property.name} used as a value keeps all of zod in the bundle`,
          hint: "Use the function of zod/mini itself, such as z.prettifyError",
        });
      },
    };
  },
};

function isNamespaceOfMini(module: string, node: Deno.lint.Node): boolean {
  if (module !== "zod/mini" || node.type !== "ImportDeclaration") return false;
  return node.specifiers.every((specifier) => specifier.type === "ImportNamespaceSpecifier");
}
