import { type Call, detector, elapsed, type Finding, type Start } from 'guard-gateway/core'
import { optionalInteger, requestPlaces, ruleParams } from 'guard-gateway/lib/detection'

const MINUTES = 60
const MINUTE_MS = 60_000
/** Of the hash of an opening, in hex: enough to tell openings apart. */
const PRINT_CHARS = 32

/** A shell loop: the same agent is started with the same words again and again, and each start ends without a tool result that an earlier one had not brought. */
export const restartLoop = detector({
  id: 'restart_loop',
  code: 'LOOP_RESTART',
  summary: 'The same agent is started again and again, and nothing new comes of it',
  help: 'Stop what starts it, or give it another task; its earlier starts are forgotten after a while.',
  version: '1',
  kind: 'loop',
  compares: 'starts',
  defaults: { threshold: 5, window_size: 0, params: { minutes: MINUTES }, action: 'flag' },
  unit: 'starts without new work',
  params: ruleParams({
    minutes: optionalInteger(1, 1440, 'Starts of so many minutes before this one count'),
  }),
  reachable: ({ threshold }) => threshold <= 32,

  /** By what a start is known: a request that offers tools and holds no turn yet. */
  measure: (call) => (isStart(call) ? call.conversation.opening.slice(0, PRINT_CHARS) : ''),

  detect({ rule, call, starts = [] }): Finding | undefined {
    const minutes = rule.params?.minutes ?? MINUTES
    const idle = idleIn(starts, call, minutes * MINUTE_MS)
    if (idle.length < rule.threshold) return undefined
    return {
      message: `the same beginning came in ${idle.length} starts of the last ${minutes} minutes, of which none brought anything new`,
      evidence: 'session',
      count: idle.length,
      where: requestPlaces(idle.map(({ request_id }) => request_id)),
    }
  },
})

const isStart = ({ envelope: { tools }, conversation }: Call): boolean =>
  conversation.turns.length === 0 && (Array.isArray(tools) ? tools.length > 0 : tools !== undefined && tools !== null)

/** The last starts, as far as each ended without new work; those under way say nothing yet. */
const idleIn = (starts: readonly Start[], call: Call, reach: number): readonly Start[] => {
  const idle: Start[] = []
  for (const start of starts) {
    if (elapsed(start, call) > reach || start.fresh > 0) break
    if (start.ended_at !== null) idle.push(start)
  }
  return idle
}
