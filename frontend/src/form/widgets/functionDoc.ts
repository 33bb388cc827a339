import { argumentsOf, type SqlFunction } from "./functions";

/** What is known of a function: how it is called, what it gives, an example. */
export function functionDoc({ signature, summary, example }: SqlFunction): HTMLElement {
  const doc = element("div", "cm-function-doc");
  doc.append(element("code", "", signature), element("p", "", summary));
  if (example) doc.append(element("code", "", example));
  return doc;
}

/** How a function is called, with the argument that is being written in bold. */
export function signatureHelp({ signature, summary }: SqlFunction, argument: number): HTMLElement {
  const doc = element("div", "cm-function-doc cm-signature-help");
  const [sentence = ""] = /^.*?[.!?](?= |$)/s.exec(summary) ?? [summary];
  doc.append(signatureOf(signature, argument), element("p", "", sentence));
  return doc;
}

function signatureOf(signature: string, argument: number): HTMLElement {
  const line = element("code", "");
  const names = argumentsOf(signature);
  const open = signature.indexOf("(");
  if (names.length === 0) {
    line.textContent = signature;
    return line;
  }
  // The last of several, as in `concat(col1, …, colN)`, is for all that follow.
  const active = Math.min(argument, names.length - 1);
  line.append(signature.slice(0, open + 1));
  names.forEach((name, i) => {
    if (i > 0) line.append(",");
    line.append(i === active ? element("strong", "", name) : name);
  });
  line.append(signature.slice(open + 1 + names.join(",").length));
  return line;
}

function element(tag: string, className: string, text = ""): HTMLElement {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text) made.textContent = text;
  return made;
}
