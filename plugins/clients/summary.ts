import { costText, countText } from '#lib/format'

const TIMEOUT_MS = 5_000

export const fetchGateway = (url: string): Promise<Response> => {
  // a gateway beyond loopback tells only whom it knows
  const { GUARD_ACCESS_KEY: key } = process.env
  return fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS), headers: key ? { 'x-guard-key': key } : {} })
}

/** Usage of a session, as the administration API returns it. */
export interface SessionUsage {
  readonly id: string
  readonly paused: boolean
  readonly requests: number
  readonly flagged: number
  readonly blocked: number
  readonly total_tokens: number
  readonly cost_micro: number
  readonly agent_id: string | null
  readonly last_seen_at: string
}

/** Sessions used since a time, in milliseconds since 1970. Rejects if the request fails. */
export const sessionsSince = async (
  address: string,
  where: Readonly<Record<string, string>>,
  since: number,
): Promise<readonly SessionUsage[]> => {
  const answer = await fetchGateway(`${address}/api/sessions?${new URLSearchParams({ limit: '200', ...where })}`)
  if (!answer.ok) throw new Error(`it answered ${answer.status}`)
  const { sessions } = (await answer.json()) as { readonly sessions: readonly SessionUsage[] }
  return sessions.filter(({ last_seen_at }) => Date.parse(last_seen_at) >= since)
}

/** One-line summary of an agent's requests; empty for none. */
export const summaryOf = (sessions: readonly SessionUsage[], address: string): string => {
  const [first] = sessions
  if (first === undefined) return ''
  const sum = (name: 'requests' | 'flagged' | 'blocked' | 'total_tokens' | 'cost_micro'): number =>
    sessions.reduce((total, session) => total + session[name], 0)
  const parts = [
    `${sum('requests')} requests`,
    `${sum('flagged')} flagged`,
    `${sum('blocked')} blocked`,
    `${countText(sum('total_tokens'))} tokens`,
    `cost ${costText(sum('cost_micro'))}`,
  ]
  return `guard: ${parts.join(', ')}  ${address}/replay?session_id=${encodeURIComponent(first.id)}`
}
