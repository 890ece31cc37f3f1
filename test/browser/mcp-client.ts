import type { World } from './world.ts'

/** The result of a call, as far as tests read it. */
export interface CallResult {
  readonly isError?: boolean
  readonly structuredContent?: { readonly approval_id?: string; readonly action?: string; readonly code?: string }
}

/** A client of the server `files` behind the MCP proxy. */
export class McpCaller {
  readonly #world: World
  readonly #session: string
  #id = 0

  constructor(world: World, session: string) {
    this.#world = world
    this.#session = session
  }

  async call(name: string, args: object): Promise<CallResult> {
    this.#id++
    const answer = await ask(this.#world, this.#session, {
      id: this.#id,
      method: 'tools/call',
      params: { name, arguments: args },
    })
    const { result } = (await answer.json()) as { readonly result?: CallResult }
    if (result === undefined) throw new Error(`${answer.status}`)
    return result
  }
}

const ask = (world: World, session: string | undefined, message: object): Promise<Response> =>
  fetch(`${world.url}/mcp/files`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${world.gateway.key}`,
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      ...(session === undefined ? {} : { 'mcp-session-id': session }),
    },
    body: JSON.stringify({ jsonrpc: '2.0', ...message }),
  })

/** Opens a session and lists the tools, as clients do. */
export const mcpCaller = async (world: World): Promise<McpCaller> => {
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'browser test', version: '1' } }
  const session = (await ask(world, undefined, { id: 0, method: 'initialize', params })).headers.get('mcp-session-id')
  if (session === null) throw new Error('no MCP session')
  await ask(world, session, { method: 'notifications/initialized' })
  await ask(world, session, { id: 'tools', method: 'tools/list' })
  return new McpCaller(world, session)
}
