import { type Colour, colourOf, listedId } from 'guard-gateway/lib/terminal'
import { terminalLine } from 'guard-gateway/lib/text'

type Paint = (text: string, colour: Colour) => string

/** A run in the stream. */
export interface StreamRun {
  readonly trace_id: string
  readonly project_id: string
  readonly session_id: string | null
  readonly origin: string
  readonly status: string
}

/** An event in the stream; small integers are numbers. */
export interface StreamDecision {
  readonly name: string
  readonly time_ns: bigint | number
  readonly trace_id: string
  readonly project_id: string
  readonly session_id: string | null
  readonly attributes: Readonly<Record<string, unknown>>
}

/** A run on a line: time of day, id, status, origin, session; ids are shortened for people at a terminal. `at` is milliseconds since 1970. */
export const runLine = (run: StreamRun, at: number, paint: Paint, isTerminal: boolean): string =>
  [
    timeOf(at),
    listedId(run.trace_id, isTerminal),
    painted(run.status.padEnd(11), run.status, paint),
    run.origin.padEnd(10),
    listedId(run.session_id ?? '', isTerminal),
  ]
    .join('  ')
    .trimEnd()

/** A decision on a line: time of day, run id, decision, reason, mode, session. */
export const decisionLine = (decision: StreamDecision, paint: Paint, isTerminal: boolean): string => {
  const { attributes, session_id, time_ns, trace_id } = decision
  const decided = wordOf(attributes.decision)
  const cells = [
    timeOf(Number(BigInt(time_ns) / 1_000_000n)),
    listedId(trace_id, isTerminal),
    painted(decided.padEnd(11), decided, paint),
    wordOf(attributes.reason_code).padEnd(10),
    wordOf(attributes.mode),
    listedId(session_id ?? '', isTerminal),
  ]
  return cells
    .filter((cell) => cell !== '')
    .join('  ')
    .trimEnd()
}

const wordOf = (value: unknown): string => (typeof value === 'string' ? terminalLine(value) : '')

const painted = (text: string, word: string, paint: Paint): string => {
  const colour = colourOf(word)
  return colour === undefined ? text : paint(text, colour)
}

const timeOf = (at: number): string => {
  const date = new Date(at)
  return [date.getHours(), date.getMinutes(), date.getSeconds()].map((part) => String(part).padStart(2, '0')).join(':')
}
