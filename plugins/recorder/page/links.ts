import type { SessionRow } from 'guard-gateway/core'
import { type Html, html } from '#lib/html'
import { shortId } from '#lib/ids'
import type { CallRecord } from '#lib/trace'

const LONG_CHARS = 28

/** A session by the name that tells people most, as a link to its page. */
export const sessionLink = (
  id: string,
  row?: { readonly name: SessionRow['name']; readonly external_id: SessionRow['external_id'] },
): Html => {
  const title = row?.name ?? row?.external_id ?? shortId(id)
  const short =
    title.length <= LONG_CHARS
      ? title
      : `${title.slice(0, LONG_CHARS - 9).toWellFormed()}…${title.slice(-8).toWellFormed()}`
  return html`<a href="/sessions/${encodeURIComponent(id)}"${short !== title && html` title="${title}"`}><bdi>${short}</bdi></a>`
}

/** An agent, as a link to its page. */
export const agentLink = (agent: string | null): Html =>
  agent === null ? html`` : html`<a href="/agents/${encodeURIComponent(agent)}"><bdi>${agent}</bdi></a>`

/** The place in Replay where a request is; where no run holds it, its session. */
export const replayLink = ({ trace_id, span_id, session_id }: CallRecord, words: string): Html => {
  if (trace_id === null)
    return session_id === null ? html`` : html`<a href="/sessions/${encodeURIComponent(session_id)}">${words}</a>`
  const span = encodeURIComponent(span_id ?? '')
  return html`<a href="/replay/${encodeURIComponent(trace_id)}${span !== '' && `?span=${span}#span-${span}`}">${words}</a>`
}

/** A reason, as a link to its rule in the policy of a project. */
export const reasonLink = (project_id: string, rule_id: string | null, reason: string | null): Html => {
  const policy = `/policies/${encodeURIComponent(project_id)}`
  return reason === null
    ? html``
    : html`<a class="status" href="${rule_id === null ? policy : `${policy}#rule-${rule_id}`}">${reason}</a>`
}
