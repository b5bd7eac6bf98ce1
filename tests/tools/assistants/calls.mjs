// Asks all recorded calls by the TypeScript SDK: calls.mjs CALLS OUT PLACE…
//
// A place is the URL of /mcp, or the command of a server on standard input and output, in one
// argument. Writes the answers of each place as JSON. With LINE=1, by the SDK of the older line,
// only the calls for it.
import { readFileSync, writeFileSync } from "node:fs";

const [callsFile, out, ...places] = process.argv.slice(2);
const isOlder = process.env.LINE === "1";
const of = isOlder
  ? {
      ...(await import("@modelcontextprotocol/sdk/client/index.js")),
      ...(await import("@modelcontextprotocol/sdk/client/stdio.js")),
      ...(await import("@modelcontextprotocol/sdk/client/streamableHttp.js")),
    }
  : {
      ...(await import("@modelcontextprotocol/client")),
      ...(await import("@modelcontextprotocol/client/stdio")),
    };

const plain = ({ content, structuredContent, isError }) => ({ content, structuredContent, isError });

async function ask(place, calls) {
  const isUrl = place.startsWith("http");
  const [command, ...args] = place.split(" ");
  const transport = isUrl
    ? new of.StreamableHTTPClientTransport(new URL(place))
    : new of.StdioClientTransport({ command, args });
  const options = isOlder ? {} : { versionNegotiation: { mode: { pin: "2026-07-28" } } };
  const client = new of.Client({ name: "figdex-test", version: "1" }, options);
  await client.connect(transport);
  const { tools } = await client.listTools();
  const names = tools.map((tool) => tool.name).join();
  if (names !== "resolve,search,instrument,values,check") throw new Error(names);
  const answers = [];
  for (const call of calls) {
    answers.push(plain(await client.callTool({ name: call.tool, arguments: call.arguments })));
  }
  await client.close();
  return answers;
}

const calls = JSON.parse(readFileSync(callsFile)).filter((call) => !isOlder || call.older);
const answers = {};
for (const place of places) answers[place] = await ask(place, calls);
writeFileSync(out, JSON.stringify(answers));
process.exit(0);
