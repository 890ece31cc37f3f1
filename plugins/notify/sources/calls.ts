import type { Gateway, Notice, Settled } from 'guard-gateway/core'
import { Inbox } from '../inbox.ts'

/** What is kept of a request until it is told of. */
interface Judged {
  readonly event: 'blocked' | 'flagged'
  readonly reason: string
  readonly message: string
  readonly session_id: string | null
  readonly agent_id: string | null
  readonly project_id: string
}

/** A session or an agent that is paused was told of when it was. */
const PAUSED = new Set(['PAUSED_SESSION', 'ENDED_SESSION', 'PAUSED_AGENT'])

/** Tells of requests that a rule has blocked, and of loops that a rule has flagged. */
export const tellOfCalls = (gateway: Gateway): void => {
  const inbox = new Inbox<Judged>((judged) => gateway.hooks.notice.call(noticeOf(judged)))
  gateway.hooks.settle.tap('notify', (settled) => {
    if (settled.decision.decision === 'allow') return
    const judged = judgedOf(settled)
    if (judged !== undefined) inbox.add(judged)
  })
}

/** Undefined for what is told of elsewhere: a budget that flags, a pause, the retry of what was blocked. */
const judgedOf = ({ call, decision }: Settled): Judged | undefined => {
  const { reason, matches, pause_reason, repeats } = decision
  const isBlock = decision.decision === 'block'
  if (pause_reason !== undefined || repeats !== null || PAUSED.has(reason ?? '')) return undefined
  const match = matches.find(({ evidence }) => isBlock || evidence !== 'budget')
  if (!isBlock && match === undefined) return undefined
  return {
    event: isBlock ? 'blocked' : 'flagged',
    reason: (isBlock ? reason : match?.code) ?? '',
    message: match?.message ?? decision.message,
    session_id: call.session?.row.id ?? null,
    agent_id: call.agent_id,
    project_id: call.project_id,
  }
}

const noticeOf = ({ event, reason, message, session_id, agent_id, project_id }: Judged): Notice => {
  const who = `${agent_id === null ? 'an agent' : `agent "${agent_id}"`} in project "${project_id}"`
  return {
    event,
    subject: session_id ?? `${project_id} ${agent_id ?? ''}`,
    text: `A request of ${who} was ${event} (${reason}): ${message.replace(/\.$/, '')}.`,
    path: session_id === null ? '/' : `/sessions/${encodeURIComponent(session_id)}`,
    project_id,
  }
}
