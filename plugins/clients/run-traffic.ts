import { isJsonObject, jsonObjectOf } from '#lib/json'
import { fetchGateway, type SessionUsage, sessionsSince } from './summary.ts'

/** One run of an agent, as its requests identify it. */
export interface AgentRun {
  /** Address of the gateway. */
  readonly address: string
  /** Value of `x-guard-run-id`. */
  readonly id: string
  readonly agent: string
  readonly project: string | undefined
  /** Session id of all its requests, if the run has one. */
  readonly session: string | undefined
  /** Start, in milliseconds since 1970. */
  readonly since: number
  /** All requests of the run carry labels. Without labels, requests have no agent name. */
  readonly is_labelled: boolean
}

/** Traffic of a run: its sessions and the number of its requests (of its sessions if the gateway does not count runs), or why the traffic is unknown. */
export type RunTraffic =
  | { readonly requests: number; readonly sessions: readonly SessionUsage[] }
  | { readonly unknown: string }

/** Asks the gateway for the traffic of a run. Never rejects. */
export const runTraffic = async (run: AgentRun): Promise<RunTraffic> => {
  try {
    const gateway = await gatewayAt(run.address)
    const count = await requestsOf(run)
    if (count === 0 && run.is_labelled && gateway.started < run.since) return { requests: 0, sessions: [] }
    const sessions = gateway.recordsSessions ? await sessionsOf(run, run.since + gateway.clockLead) : []
    if (count) return { requests: count, sessions }
    return gateway.recordsSessions
      ? { requests: sessions.length, sessions }
      : { unknown: 'the gateway keeps no record' }
  } catch (error) {
    const { cause, message } = error as Error
    const code = isJsonObject(cause) && typeof cause.code === 'string' ? ` (${cause.code})` : ''
    return { unknown: `the request to the gateway failed: ${message}${code}` }
  }
}

/** Tolerance between clocks, in milliseconds, because HTTP dates have whole seconds. */
const CLOCK_MS = 2_000

/** Times in milliseconds. */
interface GatewayInfo {
  /** The gateway records sessions. */
  readonly recordsSessions: boolean
  /** Start of the gateway, by the local clock. */
  readonly started: number
  /** Lead of the gateway's clock over the local clock. */
  readonly clockLead: number
}

const gatewayAt = async (address: string): Promise<GatewayInfo> => {
  const answer = await fetchGateway(`${address}/api/health`)
  const now = Date.now()
  const { plugins, uptime_seconds } = jsonObjectOf(await answer.json())
  const clockLead = Date.parse(answer.headers.get('date') ?? '') - now
  return {
    recordsSessions: Array.isArray(plugins) && plugins.includes('recorder'),
    started: typeof uptime_seconds === 'number' ? now - uptime_seconds * 1000 : now,
    clockLead: Math.abs(clockLead) > CLOCK_MS ? clockLead - CLOCK_MS : 0,
  }
}

/** Number of requests that name the run; undefined if the gateway does not count runs. */
const requestsOf = async ({ address, id }: AgentRun): Promise<number | undefined> => {
  const answer = await fetchGateway(`${address}/api/agent-runs/${id}`)
  if (!answer.ok) return undefined
  const { requests } = jsonObjectOf(await answer.json())
  return typeof requests === 'number' ? requests : undefined
}

/** Sessions with the labels of a run. If the client may send no labels, sessions without an agent count. */
const sessionsOf = async (run: AgentRun, since: number): Promise<readonly SessionUsage[]> => {
  const { address, agent, project, session, is_labelled } = run
  const byProject = project === undefined ? {} : { project_id: project }
  const filters = session === undefined ? { ...byProject, agent_id: agent } : { external_id: session }
  const sessions = await sessionsSince(address, filters, since)
  if (sessions.length > 0 || is_labelled) return sessions
  return (await sessionsSince(address, {}, since)).filter(({ agent_id }) => agent_id === null)
}

/** Warning if no request came through or the number is unknown; else empty. */
export const warningOf = (traffic: RunTraffic, address: string, calledAs: string): string => {
  if ('unknown' in traffic) return `guard: cannot tell whether a request came through, since ${traffic.unknown}.`
  if (traffic.requests > 0) return ''
  return [
    'guard: No request came through the gateway, so nothing of this run was guarded.',
    `guard: If it asked a model, it used a base URL or a login of its own. See "${calledAs} setup", or give it the base URL ${address}/v1 (OpenAI style) or ${address} (Anthropic style).`,
  ].join('\n')
}
