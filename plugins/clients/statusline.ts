import { text } from 'node:stream/consumers'
import { type Command, costText, countText, type Io, isShape, readJson, terminalLine } from 'guard-gateway/core'
import type { ClientsOptions } from './options.ts'
import type { SessionFigures } from './summary.ts'

const LIMIT_MS = 200
const LOOKED_BACK = 50

/** `guard statusline`: one line about the session that a client tells of on standard input; nothing, rather than late. */
export const statusline = ({ address }: Pick<ClientsOptions, 'address'>): Command => ({
  id: 'statusline',
  summary: 'one line about a session, for the status line of Claude Code',
  unconfigured: 'memory',
  example: 'echo \'{"session_id":"…"}\' | guard statusline',
  async run(_input, io) {
    const line = await lineFor(address, io).catch(() => '')
    io.out.write(`${line}\n`)
    return 0
  },
})

interface Told {
  readonly session: SessionFigures & { readonly project_id: string }
}

/** Newest first; what is no decision has neither mode nor reason. */
interface Decisions {
  readonly events: readonly { readonly attributes: { readonly mode?: string; readonly reason_code?: string | null } }[]
}

interface Rules {
  readonly rules: readonly { readonly rule_type: string; readonly threshold: number; readonly enabled: boolean }[]
}

const lineFor = async (address: string, io: Io): Promise<string> => {
  const asked = readJson(io.in === undefined ? '' : await text(io.in))
  const id = isShape(asked) && typeof asked.session_id === 'string' ? asked.session_id : ''
  const signal = AbortSignal.timeout(LIMIT_MS)
  const read = async <T>(path: string): Promise<T | undefined> => {
    const answer = await fetch(`${address}/api/${path}`, { signal })
    return answer.ok ? ((await answer.json()) as T) : undefined
  }
  const told = await read<Told>(`sessions/by-external/${encodeURIComponent(id)}`)
  if (told === undefined) return 'guard: no request yet'
  const { session } = told
  const [decisions, rules] = await Promise.all([
    read<Decisions>(`sessions/${encodeURIComponent(session.id)}/events?limit=${LOOKED_BACK}`),
    read<Rules>(`policies/${encodeURIComponent(session.project_id)}`),
  ])
  return terminalLine(`guard: ${partsOf(session, decisions?.events ?? [], rules?.rules ?? []).join(', ')}`)
}

const partsOf = (
  { paused, requests, total_tokens, cost_micro, flagged, blocked }: SessionFigures,
  events: Decisions['events'],
  rules: Rules['rules'],
): readonly string[] => {
  const attributes = events.map((event) => event.attributes)
  const mode = attributes.find((known) => known.mode !== undefined)?.mode
  const last = attributes.find(({ reason_code }) => typeof reason_code === 'string')?.reason_code
  const budgets = rules.filter((rule) => rule.enabled && rule.rule_type === 'max_tokens')
  const budget = budgets.length === 0 ? '' : ` of ${countText(Math.min(...budgets.map(({ threshold }) => threshold)))}`
  return [
    ...(paused ? ['PAUSED'] : []),
    ...(mode === undefined ? [] : [mode]),
    `${requests} ${requests === 1 ? 'request' : 'requests'}`,
    `${countText(total_tokens)}${budget} tokens`,
    `cost ${costText(cost_micro)}`,
    ...(flagged > 0 ? [`${flagged} flagged`] : []),
    ...(blocked > 0 ? [`${blocked} blocked`] : []),
    ...(last === undefined ? [] : [`last ${last}`]),
  ]
}
