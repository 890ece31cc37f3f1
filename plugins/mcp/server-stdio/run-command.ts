import type { Gateway } from 'guard-gateway/core'
import type { Command } from '#lib/command'

/** `guard mcp run`: the proxy between a client's standard input and output and a server started for it. */
export const runCommand = (gateway: Gateway): Command => ({
  id: 'mcp run',
  unconfigured: 'sqlite',
  args: '[-- command...]',
  summary: 'put the permission proxy in front of a local MCP server',
  options: {
    '--server-id <id>': 'name of the server in policy rules, approvals and Replay',
    '--bundle <id>': 'servers of the configuration in place of a command: a bundle of mcp.bundles, or "all"',
    '--policy <file>': 'policy file; mcp.policy of the configuration if absent',
    '--project <id>': 'project of its records in Replay; "default" if absent',
    '--agent <id>': 'agent that its records name',
    '--session <id>': 'session of the client that its records belong to',
    '--env <name...>': 'gives the server a variable of the environment that holds a key',
  },
  example: [
    'guard mcp run --server-id fs -- npx -y @modelcontextprotocol/server-filesystem .',
    'guard mcp run --bundle all',
    'guard mcp run --server-id fs --policy filesystem.yml -- npx -y @modelcontextprotocol/server-filesystem .',
  ],
  run: async (input, io) => (await import('./run-proxy.ts')).runProxy(gateway, input, io),
})
