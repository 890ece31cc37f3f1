import { isShape, shapeOf } from 'guard-gateway/lib/json'
import { fetchGateway, type SessionFigures, sessionsSince } from './summary.ts'

/** An agent's run, as its requests say whose they are. */
export interface AgentRun {
  /** Of the gateway. */
  readonly address: string
  /** What its requests name in `x-guard-run-id`. */
  readonly id: string
  readonly agent: string
  readonly project: string | undefined
  /** The one session that all its requests name. */
  readonly session: string | undefined
  /** When it began, in milliseconds since 1970. */
  readonly since: number
  /** All its requests say whose they are; those of others may come without a name. */
  readonly is_labelled: boolean
}

/** The traffic of a run: the number of its requests (of its sessions if the gateway counts no runs) and its sessions; or why it is unknown. */
export type RunTraffic =
  | { readonly seen: number; readonly sessions: readonly SessionFigures[] }
  | { readonly unknown: string }

/** Asks the gateway what came of a run. Never rejects. */
export const runTraffic = async (run: AgentRun): Promise<RunTraffic> => {
  try {
    const gateway = await gatewayAt(run.address)
    const counted = await requestsOf(run)
    if (counted === 0 && run.is_labelled && gateway.started < run.since) return { seen: 0, sessions: [] }
    const sessions = gateway.keepsRecord ? await sessionsOf(run, run.since + gateway.ahead) : []
    if (counted) return { seen: counted, sessions }
    return gateway.keepsRecord ? { seen: sessions.length, sessions } : { unknown: 'the gateway keeps no record' }
  } catch (error) {
    const { cause, message } = error as Error
    const code = isShape(cause) && typeof cause.code === 'string' ? ` (${cause.code})` : ''
    return { unknown: `the gateway could not be asked: ${message}${code}` }
  }
}

/** Header fields give times in whole seconds; clocks that differ by less than this many milliseconds agree. */
const CLOCK_MS = 2_000

/** What matters of a gateway; times in milliseconds. */
interface GatewayInfo {
  /** Sessions are listed by what is recorded of them. */
  readonly keepsRecord: boolean
  /** When it came up, by our clock. */
  readonly started: number
  /** How far its clock is ahead of ours. */
  readonly ahead: number
}

const gatewayAt = async (address: string): Promise<GatewayInfo> => {
  const answer = await fetchGateway(`${address}/api/health`)
  const now = Date.now()
  const { plugins, uptime_seconds } = shapeOf(await answer.json())
  const ahead = Date.parse(answer.headers.get('date') ?? '') - now
  return {
    keepsRecord: Array.isArray(plugins) && plugins.includes('recorder'),
    started: typeof uptime_seconds === 'number' ? now - uptime_seconds * 1000 : now,
    ahead: Math.abs(ahead) > CLOCK_MS ? ahead - CLOCK_MS : 0,
  }
}

/** How many requests name the run; undefined where the gateway does not count them. */
const requestsOf = async ({ address, id }: AgentRun): Promise<number | undefined> => {
  const answer = await fetchGateway(`${address}/api/agent-runs/${id}`)
  if (!answer.ok) return undefined
  const { requests } = shapeOf(await answer.json())
  return typeof requests === 'number' ? requests : undefined
}

/** Sessions by the labels of a run; where its client may send none, those without a name. */
const sessionsOf = async (run: AgentRun, since: number): Promise<readonly SessionFigures[]> => {
  const { address, agent, project, session, is_labelled } = run
  const about = project === undefined ? {} : { project_id: project }
  const where = session === undefined ? { ...about, agent_id: agent } : { external_id: session }
  const sessions = await sessionsSince(address, where, since)
  if (sessions.length > 0 || is_labelled) return sessions
  return (await sessionsSince(address, {}, since)).filter(({ agent_id }) => agent_id === null)
}

/** A warning if no request came through, or if that is unknown; else empty. */
export const warningOf = (came: RunTraffic, address: string, calledAs: string): string => {
  if ('unknown' in came) return `guard: cannot tell whether a request came through, since ${came.unknown}.`
  if (came.seen > 0) return ''
  return [
    'guard: No request came through the gateway, so nothing of this run was guarded.',
    `guard: If it asked a model, it used a base URL or a login of its own. See "${calledAs} setup", or give it the base URL ${address}/v1 (OpenAI style) or ${address} (Anthropic style).`,
  ].join('\n')
}
