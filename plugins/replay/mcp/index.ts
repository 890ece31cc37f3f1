import type { Gateway, Plugin } from 'guard-gateway/core'
import type { AskStream } from '#lib/command'
import { commandKind } from '#lib/command'
import { mcpTransportKind, ownMcpServerKind } from '#lib/mcp-transport'
import { MemoryBudget } from '#lib/memory-budget'
import { RunCache } from '../read/run-cache.ts'

const ID = 'replay'

/** Replay for agents: an MCP server over runs, sessions and budgets, which only reads. At `/mcp/replay`, judged and recorded as any server. */
export const replayMcp: Plugin = {
  name: 'replay-mcp',
  requires: ['replay', 'mcp'],
  apply(gateway: Gateway) {
    const budget = gateway.service('memory_budget').getOrProvide(() => new MemoryBudget())
    const cache = new RunCache(() => gateway.storage, budget)
    gateway.registry(mcpTransportKind).add({
      id: ID,
      async open(_server, session) {
        const { ReplayLink } = await import('./link.ts')
        return new ReplayLink(gateway, cache, session)
      },
    })
    gateway.registry(ownMcpServerKind).add({
      id: ID,
      name: 'Replay',
      transport: ID,
      policy: { version: 1, default: 'allow', pinning: 'off', rules: [] },
    })
    gateway.hooks.close.tap('replay-mcp', () => cache.forget())
  },
}

export interface ReplayMcpCommandOptions {
  /** Gives `work` a client of the running gateway, or of one that is opened in this process. */
  readonly asking: <T>(work: (ask: AskStream) => Promise<T>) => Promise<T>
  /** The gateway's key, which MCP needs. */
  readonly key: string
}

/** Adds `guard mcp replay`: the same server on standard input and output. */
export const replayMcpCommand = ({ asking, key }: ReplayMcpCommandOptions): Plugin => ({
  name: 'replay-mcp-command',
  requires: ['replay-mcp'],
  apply(gateway) {
    gateway.registry(commandKind).add({
      id: 'mcp replay',
      summary:
        'an MCP server on standard input and output that answers agents from Replay: failures, cost, comparisons, budgets',
      options: {
        '--project <id>': 'project of its records in Replay; "default" if absent',
        '--agent <id>': 'agent that its records name',
        '--session <id>': 'session of the client that its records belong to',
      },
      example: ['guard mcp replay', 'claude mcp add replay -- guard mcp replay'],
      route: 'POST /mcp/{server_id}',
      run: async (input, io) => {
        const { serveStdio } = await import('./serve-stdio.ts')
        return asking((ask) => serveStdio(ask, key, input, io))
      },
    })
  },
})
