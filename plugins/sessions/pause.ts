import {
  type Call,
  type Caller,
  type Change,
  type Decision,
  type Gateway,
  GuardError,
  type Notice,
  type ProxyRequest,
  type Session,
  type SessionRow,
  undecided,
} from 'guard-gateway/core'
import { auditedIn } from '#lib/principal'
import { threadHeads } from '#lib/threads'
import { rowOf, sessionEvent } from '#lib/trace'
import { type Agents, isPausedIn, writeThrough } from './agents.ts'
import { sessionErrors } from './error-codes.ts'
import { callerOf, type Finders } from './resolve.ts'
import type { AgentRow } from './tables.ts'

/** Pauses a session: from now on nothing of it is forwarded. Durable when it resolves. `by`: what its history says of who did it. */
export const pauseSession = async (
  gateway: Gateway,
  session: Session,
  reason: string | null,
  by: Readonly<Record<string, unknown>> = {},
): Promise<void> => {
  const wasPaused = session.row.paused
  const pause_reason = reason === null ? session.row.pause_reason : gateway.redact.text(reason)
  const paused_at = session.row.paused_at ?? gateway.clock.now()
  const details = pause_reason === null ? by : { reason: pause_reason, ...by }
  await changeSession(gateway, session, { paused: true, paused_at, pause_reason }, 'session.paused', details)
  if (!wasPaused) gateway.hooks.notice.call(pauseNotice(session.row))
}

const pauseNotice = ({ id, project_id, pause_reason }: SessionRow): Notice => ({
  event: 'paused',
  subject: id,
  text: `A session of project "${project_id}" is paused and waits for a person${pause_reason === null ? '' : `: ${pause_reason}`}.`,
  path: `/sessions/${encodeURIComponent(id)}`,
  project_id,
})

/** Ends a session: it stays paused and is not listed as waiting. Durable when it resolves; a resume reopens it. */
export const endSession = (gateway: Gateway, session: Session): Promise<void> => {
  const now = gateway.clock.now()
  const { paused_at, ended_at } = session.row
  const changes = { paused: true, paused_at: paused_at ?? now, ended_at: ended_at ?? now }
  return changeSession(gateway, session, changes, 'session.ended')
}

/**
 * Resumes a session and resets its loop rules, paused or not: earlier requests and the conversations as they stand no longer count.
 * Budgets stay used. Durable when it resolves.
 */
export const resumeSession = async (gateway: Gateway, session: Session): Promise<void> => {
  const tips = session.tips?.() ?? (await storedTips(gateway, session.row.id))
  const seen_tips = [...new Set([...tips, ...session.row.seen_tips])].slice(0, MAX_TIPS)
  const resumed_at = gateway.clock.now()
  const changes = { paused: false, paused_at: null, pause_reason: null, ended_at: null, resumed_at, seen_tips }
  await changeSession(gateway, session, changes, 'session.resumed')
  session.cleared?.()
}
const MAX_TIPS = 256

/** Changes columns of a session that its requests do not move, in memory at once and durably when it resolves. `details`: the event in its history. */
export const changeSession = (
  gateway: Gateway,
  session: Session,
  changes: Partial<SessionRow>,
  event: string,
  details: Readonly<Record<string, unknown>> = {},
): Promise<void> =>
  writeThrough(session.row, changes, async () => {
    const events: readonly Change[] =
      gateway.tables.get('session_events') === undefined
        ? []
        : [{ table: 'session_events', put: sessionEvent(session.row, event, gateway.clock.now(), details) }]
    const { id, project_id } = session.row
    // what a rule does nobody has done
    const audited =
      details.rule_id === undefined
        ? auditedIn(gateway.service('audit').get(), { action: event, subject: id, project_id, details })
        : []
    const patch: Change = { table: 'sessions', key: session.row.id, patch: changes, sync: true }
    const claims = gateway.service('claims').get()
    const write = (first: Change): Promise<boolean> =>
      claims === undefined
        ? gateway.storage.write([first, ...events, ...audited])
        : claims.change(session, (more) => gateway.storage.write([first, ...more, ...events, ...audited]))
    // a session may be in memory only, and its first request may be written between the two attempts
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const put: Change = { table: 'sessions', put: { ...session.row }, when: 'absent', sync: true }
      session.stored = (await write(patch)) || (await write(put))
      if (session.stored) return
    }
    throw new GuardError('STORAGE_BUSY', `Session ${session.row.id} changed too often at the same time. Try again.`)
  })
const ATTEMPTS = 3

/** Tips of the last request of each thread, for a session whose history is not in memory. */
const storedTips = async (gateway: Gateway, session_id: string): Promise<readonly string[]> => {
  if (gateway.tables.get('calls') === undefined) return []
  const { rows } = await gateway.storage.find('calls', { where: { session_id }, limit: HISTORY })
  return threadHeads(rows.map(rowOf))
}
const HISTORY = 1000

/** Turns what a paused session or agent sends into a block, whatever the mode. */
export const pauses =
  (agents: Agents) =>
  (decision: Decision, call: Call): Decision | Promise<Decision> => {
    // its reply has come already
    if (call.uncounted === 'retrieval') return decision
    if (call.session?.row.paused === true) {
      call.notes.paused = 'session'
      const { code, message } = heldBack(call.session.row)
      return paused(code, message)
    }
    const { agent_id } = call
    if (agent_id === null) return decision
    const judged = (agent: AgentRow | undefined): Decision => {
      if (agent === undefined || !isPausedIn(agent, call.project_id)) return decision
      call.notes.paused = 'agent'
      return paused('PAUSED_AGENT', agentPaused(agent_id))
    }
    const known = agents.at(agent_id)
    return known === undefined ? agents.find(agent_id).then(judged) : judged(known)
  }

/** Why nothing of a caller may be forwarded: its session is paused, or its agent. */
export const pauseOf =
  ({ agents, live }: Pick<Finders, 'agents' | 'live'>) =>
  async ({ project_id, agent_id, external_session_id: name }: Caller): Promise<GuardError | undefined> => {
    const session = name === null ? undefined : await live.rowNamed(project_id, name)
    if (session?.paused === true) return pausedSession(session)
    const agent = agent_id === null ? undefined : await agents.row(agent_id)
    if (agent === undefined) return undefined
    agents.worksIn(agent.id, project_id)
    return isPausedIn(agent, project_id) ? refusal('PAUSED_AGENT', agentPaused(agent.id), session) : undefined
  }

/** Refuses requests of a paused session or agent other than guarded calls, whatever the method. */
export const pausedProxy =
  (finders: Pick<Finders, 'ids' | 'agents' | 'live'>) =>
  async ({ headers, identity, session_id }: ProxyRequest): Promise<undefined> => {
    const owner = session_id === undefined ? undefined : (await finders.live.find(session_id))?.row
    const refused =
      owner?.paused === true ? pausedSession(owner) : await pauseOf(finders)(await callerOf(finders, headers, identity))
    if (refused !== undefined) throw refused
  }

const pausedSession = (session: SessionRow): GuardError => {
  const { code, message } = heldBack(session)
  return refusal(code, message, session)
}

/** A block without a rule. The official clients retry on a 409 without `x-should-retry: false`. */
const refusal = (code: Paused, message: string, session: SessionRow | undefined): GuardError =>
  new GuardError(sessionErrors[code], message, {
    block: { session_id: session?.id ?? '', rule_id: '' },
    headers: { 'x-should-retry': 'false' },
  })

type Paused = 'PAUSED_SESSION' | 'ENDED_SESSION' | 'PAUSED_AGENT'

// all within 300 characters for the longest id
const heldBack = ({ id, ended_at }: SessionRow): { readonly code: Paused; readonly message: string } => {
  const way = `POST /api/sessions/${id}/resume`
  return (ended_at ?? null) === null
    ? {
        code: 'PAUSED_SESSION',
        message: `Guard blocked this request: its session is paused. Resume it with ${way}.`,
      }
    : {
        code: 'ENDED_SESSION',
        message: `Guard blocked this request: a person has ended its session. Begin a new one, or take that back with ${way}.`,
      }
}
const agentPaused = (id: string): string =>
  `Guard blocked this request: its agent is paused. Resume it with POST /api/agents/${id}/resume.`

const paused = (reason: Paused, message: string): Decision => ({
  ...undecided,
  decision: 'block',
  status: 409,
  reason,
  message,
})
