"""Asks all recorded calls by the Python SDK: calls.py CALLS OUT PLACE…

A place is the URL of /mcp, or the command of a server on standard input and output, in one argument.
With the SDK of the older line, only the calls for it. Writes the answers of each place as JSON.
"""

import asyncio
import json
import shlex
import sys

from mcp import StdioServerParameters


def plain(result):
    """The parts of a result that a client shows."""
    result = result.model_dump(mode="json", by_alias=True, exclude_none=True)
    return {name: result[name] for name in ("content", "structuredContent", "isError") if name in result}


def parameters(place):
    command, *arguments = shlex.split(place)
    return StdioServerParameters(command=command, args=arguments)


async def of_this_line(place, calls):
    from mcp import Client

    server = place if place.startswith("http") else parameters(place)
    async with Client(server, mode="2026-07-28" if place.startswith("http") else "auto") as client:
        tools = await client.list_tools()
        assert [tool.name for tool in tools.tools] == ["resolve", "search", "instrument", "values", "check"]
        about = await client.read_resource("figdex://about")
        assert json.loads(about.contents[0].text)["generation"] == 1
        return [plain(await client.call_tool(call["tool"], call["arguments"])) for call in calls]


async def of_the_older_line(place, calls):
    from mcp import ClientSession
    from mcp.client.stdio import stdio_client
    from mcp.client.streamable_http import streamablehttp_client

    over = streamablehttp_client(place) if place.startswith("http") else stdio_client(parameters(place))
    async with over as (read, write, *_):
        async with ClientSession(read, write) as client:
            await client.initialize()
            return [plain(await client.call_tool(call["tool"], call["arguments"])) for call in calls]


async def main():
    calls_file, out, *places = sys.argv[1:]
    calls = json.load(open(calls_file))
    try:
        from mcp import Client  # noqa: F401

        ask = of_this_line
    except ImportError:
        ask = of_the_older_line
        calls = [call for call in calls if call.get("older")]
    answers = {place: await ask(place, calls) for place in places}
    json.dump(answers, open(out, "w"))


asyncio.run(main())
