/** Looks for a regular expression in lines, in a thread of its own: answers the first line that has it, and where. */

let expression;

self.onmessage = ({ data: { source, lines } }) => {
  expression ??= new RegExp(source, "u");
  for (const [line, text] of lines.entries()) {
    const at = text.search(expression);
    if (at >= 0) return self.postMessage({ line, at });
  }
  self.postMessage(null);
};
