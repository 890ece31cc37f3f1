import { type Frame, type FrameFault, type Gateway, type McpServer, readFrame } from 'guard-gateway/core'
import type { Outgoing } from './answer.ts'
import { mcpOf } from './mcp.ts'
import { openPolicies } from './policy/index.ts'
import { serverOf } from './servers.ts'
import type { SessionAbout } from './session.ts'

/** A session without a door. */
export interface OpenMcpOptions {
  readonly server_id: string
  /** Id of a registered transport, where the configuration has no server of this id. */
  readonly transport?: string
  readonly server?: Partial<McpServer>
  /** A policy as data instead of the one in force. */
  readonly policy?: unknown
  readonly project_id?: string
  readonly agent_id?: string | null
  readonly external_session_id?: string | null
  readonly origin?: 'mcp' | 'playground'
}

/** One client of the proxy inside this process. */
export interface OpenedMcp {
  readonly session_id: string
  /** Sends one message, as JSON text; gives every message that comes for it, in order. */
  send(message: string): Promise<readonly string[]>
  end(): Promise<void>
}

const quiet: Pick<SessionAbout, 'notice' | 'stderr'> = { notice: () => {}, stderr: () => {} }

/** Opens a session at a server, with the same judgement and the same records as one that comes through a door. */
export const openMcp = async (gateway: Gateway, options: OpenMcpOptions): Promise<OpenedMcp> => {
  const mcp = mcpOf(gateway)
  const { server_id, transport = 'stdio', policy } = options
  const place =
    mcp.place(server_id) ?? mcp.add({ ...serverOf(server_id, { transport }), ...options.server, id: server_id })
  const policies =
    policy === undefined
      ? undefined
      : await openPolicies(gateway, { policy, fault: (...told) => gateway.fault(...told) })
  const about: SessionAbout = {
    door: 'memory',
    merged: false,
    owner: '',
    project_id: options.project_id ?? 'default',
    agent_id: options.agent_id ?? null,
    external_session_id: options.external_session_id ?? null,
    origin: options.origin ?? 'mcp',
    ...quiet,
  }
  const seat = await mcp.openSession(place, about, policies)
  const { session, proxy } = seat
  return {
    session_id: session.id,
    async send(message) {
      const answer = await proxy.take(readFrame(Buffer.from(message), 'client') satisfies Frame | FrameFault)
      if (answer.form === 'none') return []
      if (answer.form === 'json') return [String(answer.message)]
      const messages: string[] = []
      for await (const out of answer.events) messages.push(...textOf(out))
      return messages
    },
    async end() {
      mcp.sessions.end(seat, 'ended')
      await seat.end('ended')
    },
  }
}

const textOf = ({ message }: Outgoing): readonly string[] => (message === undefined ? [] : [String(message)])
