import type { Gateway } from 'guard-gateway/core'
import { mcpBundleDefaults } from '#lib/config-defaults'
import type { Audit } from '../audit/index.ts'
import type { BundleOptions, McpLimits, McpOptions } from '../options.ts'
import type { McpServerState } from '../servers/server-state.ts'
import type { RunningSession } from '../session/running-session.ts'
import type { SessionInfo } from '../session/session.ts'
import type { Sessions } from '../session/sessions.ts'
import { type Kind, listKinds } from './kinds.ts'
import { Naming } from './naming.ts'

const NAME_CHARS = 100

/** A name that several servers of a bundle have; none of them is served under it. */
export interface Collision {
  readonly kind: Kind
  readonly name: string
  /** In the order of the configuration; one that stands twice has two such names itself. */
  readonly servers: readonly string[]
}

/** A server of a bundle, and how the bundle calls what it has. */
export interface BundleServer {
  readonly state: McpServerState
  readonly naming: Naming
}

/** What bundles use of the MCP proxy. */
export interface BundleContext {
  readonly gateway: Gateway
  readonly options: Pick<McpOptions, 'bundles'>
  readonly limits: McpLimits
  readonly idle_ms: number
  readonly audit: Pick<Audit, 'event'>
  readonly sessions: Pick<Sessions, 'end'>
  configuredIds(): readonly string[]
  serverState(server_id: string): McpServerState | undefined
  openSession(state: McpServerState, about: SessionInfo): Promise<RunningSession>
}

/** Several servers that clients see as one. */
export class Bundle {
  readonly id: string
  readonly wait_ms: number
  readonly #context: BundleContext
  readonly #options: BundleOptions
  /** What its sessions have found last, by kind and name. */
  readonly #collisions = new Map<string, Collision>()

  constructor(context: BundleContext, id: string, options: BundleOptions) {
    this.id = id
    this.wait_ms = (options.wait_seconds ?? mcpBundleDefaults.wait_seconds) * 1000
    this.#context = context
    this.#options = options
  }

  /** Ids of its servers. */
  get server_ids(): readonly string[] {
    const named = Object.keys(this.#options.servers ?? {})
    return named.length > 0 ? named : this.#context.configuredIds()
  }

  get servers(): readonly BundleServer[] {
    const { servers = {}, names } = this.#options
    return this.server_ids.flatMap((id) => {
      const state = this.#context.serverState(id)
      const options = (Object.hasOwn(servers, id) ? servers[id] : undefined) ?? {}
      return state === undefined ? [] : [{ state, naming: new Naming(id, names, options) }]
    })
  }

  get collisions(): readonly Collision[] {
    return [...this.#collisions.values()]
  }

  /** A list is read anew. */
  forget(kind: Kind): void {
    for (const [key, collision] of this.#collisions) if (collision.kind === kind) this.#collisions.delete(key)
  }

  /** True: it was not known. */
  collided(collision: Collision): boolean {
    const key = `${collision.kind}\0${collision.name}`
    const isNew = !this.#collisions.has(key)
    this.#collisions.set(key, collision)
    return isNew
  }

  /** What is wrong about a collision, and the way out. */
  collisionText({ kind, name, servers }: Collision): string {
    const { word, key } = listKinds[kind]
    const [one = '', ...others] = servers
    const whose = `one of the MCP server "${one}" and one of "${others.join('", "')}"`
    const wayOut =
      key === 'name'
        ? `Give one of them another name by mcp.bundles.${this.id}.servers.${others.at(-1)}, with rename, prefix or hide.`
        : `Ask at /mcp/${one} or /mcp/${others.join(', /mcp/')}, or put them into different bundles.`
    return `The bundle "${this.id}" has two of the ${word} ${JSON.stringify(name.slice(0, NAME_CHARS))}: ${whose}. Neither is served. ${wayOut}`
  }
}
