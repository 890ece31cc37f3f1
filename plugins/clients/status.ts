import { type Command, columnLines, costText, countText, terminalLine } from 'guard-gateway/core'
import type { ClientsOptions } from './options.ts'
import type { SessionFigures } from './summary.ts'

const SHOWN = 10
const LOOKED_AT = 200

interface Listed {
  readonly sessions: readonly (SessionFigures & {
    readonly project_id: string
    readonly external_id: string | null
    readonly name: string | null
  })[]
}

/** `guard status`: what is going on, at a glance: the newest sessions with what they have spent and what was decided. */
export const status = ({ asking }: ClientsOptions): Command => ({
  id: 'status',
  summary: 'sessions, spend, flags and blocks at a glance',
  example: 'guard status --json',
  async run({ options }, io) {
    const { sessions, address } = await asking(async (ask, address) => ({
      ...((await ask('GET', `/api/sessions?limit=${LOOKED_AT}`)) as Listed),
      address,
    }))
    const totals = totalsOf(sessions)
    if (options.json === true) {
      io.out.write(`${JSON.stringify({ ...totals, sessions: sessions.slice(0, SHOWN) })}\n`)
      return 0
    }
    io.out.write(`${headline(totals, sessions.length)}\n`)
    for (const line of table(sessions.slice(0, SHOWN))) io.out.write(`${line}\n`)
    if (sessions.length === 0) io.err.write('Nothing was asked yet. Start an agent with: guard run -- claude\n')
    else if (address !== undefined) io.err.write(`more: ${address}/sessions\n`)
    return 0
  },
})

const sums = ['requests', 'flagged', 'blocked', 'total_tokens', 'cost_micro'] as const
type Totals = Record<(typeof sums)[number] | 'paused', number>

const totalsOf = (sessions: Listed['sessions']): Totals => ({
  ...(Object.fromEntries(
    sums.map((name) => [name, sessions.reduce((total, session) => total + session[name], 0)]),
  ) as Totals),
  paused: sessions.filter(({ paused }) => paused).length,
})

const headline = (totals: Totals, count: number): string =>
  [
    `${count}${count === LOOKED_AT ? ' newest' : ''} ${count === 1 ? 'session' : 'sessions'}`,
    `${totals.requests} ${totals.requests === 1 ? 'request' : 'requests'}`,
    `${totals.flagged} flagged`,
    `${totals.blocked} blocked`,
    `${totals.paused} paused`,
    `${countText(totals.total_tokens)} tokens`,
    `cost ${costText(totals.cost_micro)}`,
  ].join(', ')

/** One line a session. */
const table = (sessions: Listed['sessions']): readonly string[] => {
  if (sessions.length === 0) return []
  const head = [
    'last seen (UTC)',
    'session',
    'project',
    'agent',
    'requests',
    'flagged',
    'blocked',
    'tokens',
    'cost',
    '',
  ]
  const rows = sessions.map((session) => [
    session.last_seen_at.slice(0, 19).replace('T', ' '),
    session.id,
    terminalLine(session.project_id),
    terminalLine(session.agent_id ?? ''),
    String(session.requests),
    String(session.flagged),
    String(session.blocked),
    countText(session.total_tokens),
    costText(session.cost_micro),
    session.paused ? 'paused' : '',
  ])
  return columnLines([head, ...rows], figures)
}

const figures: ReadonlySet<number> = new Set([4, 5, 6, 7, 8])
