import { prose, random } from '../kit.ts'
import { type Case, type CaseRequest, type Evidence, tokensOf } from '../quality/case.ts'
import { wasteFrom } from '../quality/waste.ts'

interface Plan {
  readonly requests: readonly CaseRequest[]
  readonly loop_start_step: number | null
}

const body = (text: string): Buffer =>
  Buffer.from(JSON.stringify({ model: 'synthetic', max_tokens: 1024, messages: [{ role: 'user', content: text }] }))

const ask = (text: string): CaseRequest => ({ body: body(text), tokens: tokensOf(text.length + 400) })

const overloaded = { status: 529, type: 'overloaded_error', message: 'Overloaded' }

const texts = (next: () => number, count: number): CaseRequest[] =>
  Array.from({ length: count }, () => ask(prose(next, 300)))

const again = (unit: readonly CaseRequest[], times: number): CaseRequest[] =>
  Array.from({ length: times }, () => unit).flat()

/** Conversations of several agents with interleaved requests. */
const together = (next: () => number, agents: number, rounds: number): CaseRequest[] => {
  const file = prose(next, 600)
  const talks: object[][] = Array.from({ length: agents }, () => [{ role: 'user', content: prose(next, 200) }])
  const requests: CaseRequest[] = []
  for (let round = 0; round < rounds; round++) {
    for (const [agent, talk] of talks.entries()) {
      const body = JSON.stringify({ model: 'synthetic', max_tokens: 1024, system: 'You explore.', messages: talk })
      requests.push({ body: Buffer.from(body), tokens: tokensOf(body.length + 400) })
      const path = round === 0 ? 'README.md' : `src/${agent}/${prose(next, 12).trim()}.ts`
      talk.push(...readOf(path, round === 0 ? file : prose(next, 400), `toolu_${agent}_${round}`))
    }
  }
  return requests
}

const readOf = (path: string, text: string, id: string): object[] => [
  { role: 'assistant', content: [{ type: 'tool_use', id, name: 'Read', input: { path } }] },
  { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: text }] },
]

/** Programs that send single requests without history, with and without a loop. */
const plans: Readonly<Record<string, (next: () => number, start: number) => Plan>> = {
  same_request: (next, start) => ({
    requests: [...texts(next, start), ...again(texts(next, 1), 8)],
    loop_start_step: start + 2,
  }),
  request_cycle(next, start) {
    const unit = texts(next, 5)
    return { requests: [...texts(next, start), ...again(unit, 4)], loop_start_step: start + 6 }
  },
  upstream_down: (next, start) => ({
    requests: [...texts(next, start), ...texts(next, 12).map((one) => ({ ...one, fails: overloaded }))],
    loop_start_step: start + 2,
  }),
  single_requests: (next, start) => ({ requests: texts(next, start + 12), loop_start_step: null }),
  /** A failed request is retried until it succeeds. */
  retries: (next, start) => ({
    requests: texts(next, start + 8).flatMap((one, index) =>
      index % 2 === 0 ? [one] : [...again([{ ...one, fails: overloaded }], 2), one],
    ),
    loop_start_step: null,
  }),
  /** Several agents of one session that start with the same file. */
  subagents: (next, start) => ({ requests: [...texts(next, start), ...together(next, 4, 6)], loop_start_step: null }),
  upstream_hiccups: (next, start) => ({
    requests: texts(next, start + 16).map((one, index) => (index % 4 === 0 ? one : { ...one, fails: overloaded })),
    loop_start_step: null,
  }),
}

/** Every plan, after a number of requests of other work. */
export const requestCases = (seed: number, start: number): readonly Case[] =>
  Object.entries(plans).map(([kind, plan]) => {
    const { requests, loop_start_step } = plan(random(seed), start)
    return {
      id: `${kind}/start=${start}/seed=${seed}`,
      suite: 'synthetic',
      collection: null,
      source: 'requests',
      task: null,
      split: null,
      kind,
      label: loop_start_step === null ? 'clean' : 'loop',
      loop_start_step,
      resolved: null,
      waste: wasteFrom(loop_start_step),
      tokens_estimated: true,
      evidence: new Set<Evidence>(['upstream errors']),
      turns: null,
      tokens: () => requests.map(({ tokens }) => tokens),
      requests: () => requests,
    }
  })
