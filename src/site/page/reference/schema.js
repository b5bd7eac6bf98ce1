// Reads an OpenAPI 3.0 document: references, descriptions of types, properties, examples.

/** The target of `$ref`, or `thing` itself when it is not a reference. */
export function resolve(document, thing) {
  let found = thing, hops = 0;
  while (found?.$ref && hops < 20) {
    found = found.$ref.replace(/^#\//, "").split("/").reduce((at, name) => at?.[name.replaceAll("~1", "/").replaceAll("~0", "~")], document);
    hops += 1;
  }
  return found ?? {};
}

/** The name of the shape that `schema` refers to, or "". */
export const shapeName = (schema) => /^#\/components\/schemas\/(.+)$/.exec(schema?.$ref ?? "")?.[1] ?? "";

/** The description of a type, in pieces: texts, and `{shape}` for a named shape. */
export function typeOf(document, schema) {
  if (!schema) return ["any"];
  const name = shapeName(schema);
  if (name) return [{ shape: name }];
  for (const word of ["oneOf", "anyOf", "allOf"]) {
    if (schema[word]) return between(schema[word].map((one) => typeOf(document, one)), word === "allOf" ? " and " : " or ");
  }
  const pieces = schema.type === "array" ? ["array of ", ...inner(typeOf(document, schema.items))] : [schema.format ? `${schema.type ?? "any"} (${schema.format})` : schema.type ?? "any"];
  const bounds = boundsOf(schema);
  if (bounds) pieces.push(`, ${bounds}`);
  if (schema.nullable) pieces.push(" or null");
  return pieces;
}

/** Puts alternatives into parentheses. */
const inner = (pieces) => (pieces.some((piece) => / or /.test(piece)) ? ["(", ...pieces, ")"] : pieces);

function boundsOf(schema) {
  const range = (low, high, unit) => {
    if (low === undefined && high === undefined) return "";
    if (low === high) return `${low} ${unit}`;
    if (low === undefined) return `at most ${high} ${unit}`;
    if (high === undefined) return `at least ${low} ${unit}`;
    return `${low} to ${high} ${unit}`;
  };
  return [range(schema.minLength, schema.maxLength, "characters"), range(schema.minItems, schema.maxItems, "entries"),
    range(schema.minimum, schema.maximum, "").trim()].filter(Boolean).join(", ");
}

function between(lists, word) {
  return lists.flatMap((list, place) => (place ? [word, ...list] : list));
}

/** `{name, schema, isRequired, description, values, example}` of each property of a shape. */
export function properties(document, schema) {
  const shape = resolve(document, schema);
  const all = [shape, ...(shape.allOf ?? []).map((part) => resolve(document, part))];
  return all.flatMap((one) => Object.entries(one.properties ?? {}).map(([name, property]) => {
    const whole = resolve(document, property);
    return {
      name, schema: property, isRequired: Boolean(one.required?.includes(name)),
      description: property.description ?? whole.description ?? "", values: (whole.enum ?? []).filter((value) => value !== null),
      example: property.example ?? whole.example,
    };
  }));
}

/** Each operation: `{method, path, operation, request, examples, parameters, answer}`. */
export function operations(document) {
  const out = [];
  for (const [path, methods] of Object.entries(document.paths ?? {})) {
    for (const method of ["get", "post", "put", "delete", "patch", "head"]) {
      const operation = methods[method];
      if (!operation) continue;
      const json = (content) => Object.entries(content ?? {}).find(([type]) => type.includes("json"))?.[1];
      const request = json(resolve(document, operation.requestBody ?? {}).content);
      const examples = Object.entries(request?.examples ?? {}).map(([name, example]) => {
        const whole = resolve(document, example);
        return { name, summary: whole.summary ?? name, value: whole.value };
      }).sort((a, b) => Number(b.name.startsWith("simple")) - Number(a.name.startsWith("simple")));
      if (request?.example !== undefined) examples.push({ name: "example", summary: "Example", value: request.example });
      const parameters = [...(methods.parameters ?? []), ...(operation.parameters ?? [])].map((one) => resolve(document, one));
      const good = Object.entries(operation.responses ?? {}).find(([status]) => status.startsWith("2"))?.[1];
      out.push({ method: method.toUpperCase(), path, operation, request, examples, parameters, answer: json(resolve(document, good ?? {}).content), responses: operation.responses ?? {} });
    }
  }
  // The most used endpoints come first, then all others.
  const order = ["/mapping", "/search", "/filter", "/mapping/values/{key}"];
  const place = ({ path }) => (order.indexOf(path) + order.length + 1) % (order.length + 1);
  return out.sort((a, b) => place(a) - place(b));
}
