import { isShape, shapeOf } from 'guard-gateway/core'
import { type SessionFigures, sessionsSince } from './summary.ts'

/** An agent's run, as its requests say whose they are. */
export interface AgentRun {
  /** Of the gateway. */
  readonly address: string
  readonly agent: string
  readonly project: string | undefined
  /** The one session that all its requests name. */
  readonly session: string | undefined
  /** When it began, in milliseconds since 1970. */
  readonly since: number
  /** All its requests say whose they are; those of others may come without a name. */
  readonly is_labelled: boolean
}

/** What the gateway saw of a run: its sessions, none; or that it cannot be told, and why. */
export type CameThrough = { readonly sessions: readonly SessionFigures[] } | { readonly unknown: string }

/** Asks the gateway what came of a run. Never rejects. */
export const cameThrough = async (run: AgentRun): Promise<CameThrough> => {
  const { address, agent, project, session, since, is_labelled } = run
  const about = project === undefined ? {} : { project_id: project }
  const where = session === undefined ? { ...about, agent_id: agent } : { external_id: session }
  try {
    if (!(await keepsRecord(address))) return { unknown: 'the gateway keeps no record' }
    const sessions = await sessionsSince(address, where, since)
    if (sessions.length > 0 || is_labelled) return { sessions }
    const nameless = (await sessionsSince(address, {}, since)).filter(({ agent_id }) => agent_id === null)
    return { sessions: nameless }
  } catch (error) {
    const { cause, message } = error as Error
    const code = isShape(cause) && typeof cause.code === 'string' ? ` (${cause.code})` : ''
    return { unknown: `the gateway could not be asked: ${message}${code}` }
  }
}

/** Sessions are listed by what is recorded of them. */
const keepsRecord = async (address: string): Promise<boolean> => {
  const { plugins } = shapeOf(await (await fetch(`${address}/api/health`)).json())
  return Array.isArray(plugins) && plugins.includes('recorder')
}

/** What a person should know where nothing came through, or where that cannot be told; empty where something did. */
export const warningOf = (came: CameThrough, address: string, calledAs: string): string => {
  if ('unknown' in came) return `guard: cannot tell whether a request came through, since ${came.unknown}.`
  if (came.sessions.length > 0) return ''
  return [
    'guard: No request came through the gateway, so nothing of this run was guarded.',
    `guard: If it asked a model, it used a base URL or a login of its own. See "${calledAs} setup", or give it the base URL ${address}/v1 (OpenAI style) or ${address} (Anthropic style).`,
  ].join('\n')
}
