// What an official client of the TypeScript SDK sees of a gateway, 1.x or 2.x:
//     typescript.cjs FOLDER 1 | legacy | auto URL | COMMAND...
// FOLDER is where the SDK is installed.

const { createRequire } = require("node:module");
const { setTimeout: sleep } = require("node:timers/promises");

const TEXT = "h\u00e9 \u2028 \u{1f600} \\";
const [folder, mode, ...words] = process.argv.slice(2);
const sdk = load(createRequire(`${folder}/package.json`));
const options = { capabilities: { elicitation: {} } };

function load(from) {
  if (mode !== "1") {
    return { ...from("@modelcontextprotocol/client"), ...from("@modelcontextprotocol/client/stdio") };
  }
  const parts = ["client/index.js", "client/stdio.js", "client/streamableHttp.js", "types.js"];
  return Object.assign({}, ...parts.map((part) => from(`@modelcontextprotocol/sdk/${part}`)));
}

function transport() {
  const [command, ...args] = words;
  return command.startsWith("http")
    ? new sdk.StreamableHTTPClientTransport(new URL(command))
    : new sdk.StdioClientTransport({ command, args });
}

function answer(request) {
  const names = Object.keys(request.params.requestedSchema.properties);
  return { action: "accept", content: Object.fromEntries(names.map((name) => [name, "an answer"])) };
}

async function main() {
  if (mode !== "1") options.versionNegotiation = { mode };
  const client = new sdk.Client({ name: "typescript", version: "1" }, options);
  client.setRequestHandler(mode === "1" ? sdk.ElicitRequestSchema : "elicitation/create", answer);
  await client.connect(transport());
  const call = (name, args, how) => {
    const params = { name, arguments: args };
    return mode === "1" ? client.callTool(params, undefined, how) : client.callTool(params, how);
  };
  const text = async (name, args, how) => (await call(name, args, how)).content[0].text;
  const seen = { progress: [], revision: client.getNegotiatedProtocolVersion?.() };
  seen.tools = (await client.listTools()).tools.map((tool) => tool.name);
  seen.echo = await text("echo", { text: TEXT });
  seen.every = await text("every_echo", { message: TEXT });
  const failed = await call("test_error_handling", {});
  seen.failed = [failed.isError, failed.content[0].text];
  await call("refuse", {}).catch((error) => {
    seen.refused = [error.code, error.message.replace(/^MCP error -?\d+: /, ""), error.data];
  });
  const onprogress = ({ progress, total }) => seen.progress.push([progress, total]);
  await call("wait", { seconds: 0.2 }, { onprogress });
  seen.asked = await text("test_elicitation", { message: "who?" });
  seen.prompt = (await client.getPrompt({ name: "test_simple_prompt" })).messages[0].content.text;
  seen.resource = (await client.readResource({ uri: "test://static-text" })).contents[0].text;
  const waiting = call("wait", { seconds: 30 }, { signal: AbortSignal.timeout(300) });
  await waiting.catch((error) => { seen.aborted = error.message; });
  for (let tries = 0; tries < 100; tries += 1) {
    seen.cancelled = await text("cancelled", {});
    if (seen.cancelled !== "0") break;
    await sleep(50);
  }
  await client.close();
  console.log(JSON.stringify(seen));
}

main();
