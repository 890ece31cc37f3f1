import { ownMcpServerKind } from 'guard-gateway/lib/mcp-transport'
import type { Mcp } from '../mcp.ts'
import type { Policies } from '../policy/index.ts'
import { sessionPins } from '../tools/index.ts'
import { serverOf } from './configured-servers.ts'
import type { McpServerState } from './server-state.ts'

/** MCP servers of the gateway's own, made when a client asks for one. */
export class OwnServers {
  readonly #mcp: Mcp
  readonly #states = new Map<string, McpServerState>()
  readonly #policies = new Map<string, Promise<Policies>>()

  constructor(mcp: Mcp) {
    this.#mcp = mcp
  }

  /** Undefined if the gateway has no such server. */
  state(id: string): McpServerState | undefined {
    const known = this.#states.get(id)
    if (known !== undefined) return known
    const own = this.#mcp.gateway.registry(ownMcpServerKind).get(id)
    if (own === undefined) return undefined
    // its definitions are those of this program, so that nobody has to trust them
    const state = this.#mcp.createServerState(serverOf(id, own), sessionPins())
    this.#states.set(id, state)
    return state
  }

  states(): readonly McpServerState[] {
    return [...this.#states.values()]
  }

  /** The policy of such a server where no policy file is named; undefined: the one in force. */
  policies(state: McpServerState): Promise<Policies> | undefined {
    const { id } = state.server
    const { gateway, options } = this.#mcp
    const own = this.#states.get(id) === state ? gateway.registry(ownMcpServerKind).get(id) : undefined
    if (own === undefined || (options.policy ?? '') !== '') return undefined
    const known = this.#policies.get(id) ?? this.#mcp.openPolicies({ policy: own.policy, fault: gateway.fault })
    this.#policies.set(id, known)
    return known
  }
}
