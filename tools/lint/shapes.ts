/** Rules about the shape of code, wherever it stands. */

import { isProduct, placeOf } from "./places.ts";

/** `as` silences the checker; only `as const` says something to it. */
export const castRule: Deno.lint.Rule = {
  create(context) {
    return {
      TSAsExpression(node) {
        const { typeAnnotation: type } = node;
        const isConst = type.type === "TSTypeReference" && type.typeName.type === "Identifier" &&
          type.typeName.name === "const";
        if (isConst) return;
        context.report({ node, message: "A cast", hint: "Check the value, or write a type guard" });
      },
      TSTypeAssertion(node) {
        context.report({ node, message: "A cast", hint: "Check the value, or write a type guard" });
      },
    };
  },
};

/** Every started program says where its three streams go: an inherited stdin or stdout would mix into a protocol. */
export const stdioRule: Deno.lint.Rule = {
  create(context) {
    const place = placeOf(context.filename);
    if (!isProduct(place)) return {};
    return {
      NewExpression(node) {
        const { callee } = node;
        if (callee.type !== "MemberExpression" || callee.object.type !== "Identifier") return;
        if (callee.object.name !== "Deno" || callee.property.type !== "Identifier") return;
        if (callee.property.name !== "Command") return;
        const missing = ["stdin", "stdout", "stderr"].filter((stream) => !states(node.arguments[1], stream));
        if (missing.length === 0) return;
        context.report({ node, message: `A program is started without stating its ${missing.join(", ")}` });
      },
      CallExpression(node) {
        if (node.callee.type !== "Identifier" || node.callee.name !== "spawn") return;
        if (states(node.arguments.at(-1), "stdio")) return;
        context.report({ node, message: "A program is started without stating its stdio" });
      },
    };
  },
};

function states(options: Deno.lint.Node | undefined, key: string): boolean {
  return options?.type === "ObjectExpression" &&
    options.properties.some((property) =>
      property.type === "Property" && property.key.type === "Identifier" && property.key.name === key
    );
}
