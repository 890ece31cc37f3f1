import type { World } from './world.ts'

const MS = 1_000_000
/** A whole instant, in nanoseconds, as JSON can carry it: a string of digits. */
export const at = (start_ms: number, after_ms: number): string =>
  `${BigInt(Math.round(start_ms)) * 1_000_000n + BigInt(Math.round(after_ms * MS))}`

/** A span of a trace that is sent in. */
export interface SentSpan {
  readonly id: string
  readonly parent_id?: string
  readonly name: string
  readonly start_ns: string
  readonly end_ns?: string
  readonly status?: string
  readonly attributes?: object
  readonly events?: readonly object[]
}

/** A run of three steps that begins at `start_ms`: a request, a tool call below it, a command that fails. */
export const threeSteps = (name: string, start_ms: number, more: object = {}, factor = 1) => {
  const span = (id: string, title: string, from: number, to: number, rest: object = {}) => ({
    id,
    name: title,
    start_ns: at(start_ms, from * factor),
    end_ns: at(start_ms, to * factor),
    ...rest,
  })
  return {
    name,
    project_id: 'demo',
    agent_name: 'coder',
    status: 'error',
    spans: [
      span('s1', 'gen_ai.request', 100, 900, { attributes: { 'gen_ai.request.model': 'small-model' } }),
      span('s2', 'tool.call', 200, 500, {
        parent_id: 's1',
        attributes: { 'tool.name': 'read_file', note: 'wanderlust' },
      }),
      span('s3', 'command.exec', 900, 1000, { status: 'error', attributes: { command: 'npm test', exit_code: 1 } }),
    ],
    ...more,
  }
}

/** Data of every kind that a page shows: runs of every status, sessions, decisions, an approval that waits. */
export const seed = async (world: World) => {
  const now = Date.now()
  const left = await world.trace(threeSteps('fix the parser', now - 60_000))
  const right = await world.trace(threeSteps('fix the parser again', now - 30_000, { status: 'ok' }, 3))
  const played = await world.play('exact-loop')
  await world.play('exact-loop', 'shadow')
  const { json } = await world.api('GET', '/api/sessions')
  const [session] = json.sessions as readonly { readonly id: string }[]
  const { json: listed } = await world.api('GET', '/api/v1/runs?failure_tag=loop&limit=1')
  const [looped] = listed.runs as readonly { readonly trace_id: string }[]
  return {
    left,
    right,
    looped: looped?.trace_id ?? '',
    run: String(played.id),
    session: session?.id ?? '',
    project: String(played.project_id),
  }
}

/** A run of this many spans, one behind the other, four levels deep; `first`: what the first is called. */
export const longRun = (count: number, start_ms: number, first = 'tool.call') => ({
  name: `long ${count}`,
  status: 'ok',
  spans: Array.from({ length: count }, (_, index) => ({
    id: `s${index}`,
    ...(index % 4 === 0 ? {} : { parent_id: `s${index - 1}` }),
    name: index === 0 ? first : 'tool.call',
    start_ns: at(start_ms, index * 10),
    end_ns: at(start_ms, index * 10 + (4 - (index % 4)) * 10),
    attributes: { 'tool.name': `tool ${index}` },
  })),
})
