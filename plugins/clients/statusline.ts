import { text } from 'node:stream/consumers'
import { type BudgetLeft, byRemainingShare, remainingShare, remainingText } from 'guard-gateway/lib/budget'
import type { Command, Io } from 'guard-gateway/lib/command'
import { costText, countText } from 'guard-gateway/lib/format'
import { isJsonObject, readJson } from 'guard-gateway/lib/json'
import { terminalLine } from 'guard-gateway/lib/text'
import type { ClientsOptions } from './options.ts'
import type { SessionUsage } from './summary.ts'

/** The first request of a process takes 250 ms on a busy machine. */
const TIMEOUT_MS = 1_000
const EVENT_LIMIT = 50

/** `guard statusline`: one line about the session on standard input. It prints nothing if the gateway is slow. */
export const statusline = ({ address }: Pick<ClientsOptions, 'address'>): Command => ({
  id: 'statusline',
  summary: 'one line about a session, for the status line of Claude Code',
  unconfigured: 'memory',
  example: ['guard statusline < session.json', 'echo \'{"session_id":"…"}\' | guard statusline'],
  async run(_input, io) {
    const line = await lineFor(address, io).catch(() => '')
    io.out.write(`${line}\n`)
    return 0
  },
})

interface SessionStatus {
  readonly session: SessionUsage & { readonly project_id: string }
  readonly budgets?: readonly BudgetLeft[]
}

/** Newest first. Rows without a decision have no mode and no reason. */
interface Decisions {
  readonly events: readonly { readonly attributes: { readonly mode?: string; readonly reason_code?: string | null } }[]
}

const lineFor = async (address: string, io: Io): Promise<string> => {
  const input = readJson(io.in === undefined ? '' : await text(io.in))
  const id = isJsonObject(input) && typeof input.session_id === 'string' ? input.session_id : ''
  const signal = AbortSignal.timeout(TIMEOUT_MS)
  const headers: Record<string, string> = {}
  if (io.env.GUARD_ACCESS_KEY) headers['x-guard-key'] = io.env.GUARD_ACCESS_KEY
  const read = async <T>(path: string): Promise<T | undefined> => {
    const answer = await fetch(`${address}/api/${path}`, { signal, headers })
    return answer.ok ? ((await answer.json()) as T) : undefined
  }
  const status = await read<SessionStatus>(`sessions/by-external/${encodeURIComponent(id)}`)
  if (status === undefined) return 'guard: no request yet'
  const { session, budgets = [] } = status
  const decisions = await read<Decisions>(`sessions/${encodeURIComponent(session.id)}/events?limit=${EVENT_LIMIT}`)
  return terminalLine(`guard: ${partsOf(session, decisions?.events ?? [], budgets).join(', ')}`)
}

const partsOf = (
  { paused, requests, total_tokens, cost_micro, flagged, blocked }: SessionUsage,
  events: Decisions['events'],
  budgets: readonly BudgetLeft[],
): readonly string[] => {
  const attributes = events.map((event) => event.attributes)
  const mode = attributes.find((one) => one.mode !== undefined)?.mode
  const last = attributes.find(({ reason_code }) => typeof reason_code === 'string')?.reason_code
  const tokens = budgets.filter(({ scope, unit }) => scope === 'session' && unit === 'tokens')
  const budget = tokens.length === 0 ? '' : ` of ${countText(Math.min(...tokens.map(({ limit }) => limit)))}`
  const [tightest] = byRemainingShare(budgets.filter(isShown))
  return [
    ...(paused ? ['PAUSED'] : []),
    ...(mode === undefined ? [] : [mode]),
    `${requests} ${requests === 1 ? 'request' : 'requests'}`,
    `${countText(total_tokens)}${budget} tokens`,
    `cost ${costText(cost_micro)}`,
    ...(tightest === undefined ? [] : [remainingText(tightest)]),
    ...(flagged > 0 ? [`${flagged} flagged`] : []),
    ...(blocked > 0 ? [`${blocked} blocked`] : []),
    ...(last === undefined ? [] : [`last ${last}`]),
  ]
}

const LOW_SHARE = 0.2

/** Budgets with a period always show; budgets of the session show when little remains. */
const isShown = (budget: BudgetLeft): boolean => budget.per !== null || remainingShare(budget) <= LOW_SHARE
