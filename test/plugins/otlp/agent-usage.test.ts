import assert from 'node:assert/strict'
import { it } from 'node:test'
import { onEachBackend } from '../../kit/backends.ts'
import { type Receiver, startReceiver } from './kit.ts'

const BEGIN = 1_700_000_000_000_000_000n

const span = (trace: string, id: string, parent: string, operation: string, tokens?: number) => ({
  traceId: trace,
  spanId: id.padEnd(16, '0'),
  ...(parent === '' ? {} : { parentSpanId: parent.padEnd(16, '0') }),
  name: `${operation} m-1`,
  startTimeUnixNano: String(BEGIN),
  endTimeUnixNano: String(BEGIN + 1_000_000_000n),
  attributes: [
    { key: 'gen_ai.operation.name', value: { stringValue: operation } },
    { key: 'gen_ai.request.model', value: { stringValue: 'm-1' } },
    ...(tokens === undefined ? [] : usage(tokens)),
  ],
})

const usage = (tokens: number) => [
  { key: 'gen_ai.usage.input_tokens', value: { intValue: String(tokens) } },
  { key: 'gen_ai.usage.cache_read.input_tokens', value: { intValue: String(tokens / 2) } },
  { key: 'gen_ai.usage.output_tokens', value: { intValue: String(tokens / 10) } },
]

type Span = ReturnType<typeof span>

/** Runs of agents: spans as id, parent, operation, tokens; and the input that counts. */
const RUNS: readonly (readonly [string, readonly (readonly [string, string, string, number?])[], number])[] = [
  ['an agent alone', [['a', '', 'invoke_agent', 100]], 100],
  ['a workflow alone', [['a', '', 'invoke_workflow', 100]], 100],
  [
    'an agent with tools',
    [
      ['a', '', 'invoke_agent', 100],
      ['b', 'a', 'execute_tool'],
    ],
    100,
  ],
  [
    'an agent around a model deep inside',
    [
      ['a', '', 'invoke_agent', 100],
      ['b', 'a', 'execute_tool'],
      ['c', 'b', 'invoke_agent'],
      ['d', 'c', 'chat', 80],
    ],
    80,
  ],
  [
    'an agent around a model that tells no usage',
    [
      ['a', '', 'invoke_agent', 100],
      ['b', 'a', 'chat'],
    ],
    100,
  ],
  [
    'two agents in one, and a model beside them',
    [
      ['a', '', 'invoke_agent', 1_000],
      ['b', 'a', 'invoke_agent', 100],
      ['c', 'a', 'invoke_agent', 200],
      ['d', '', 'chat', 40],
    ],
    340,
  ],
]

const orders = <T>(all: readonly T[]): readonly (readonly T[])[] => [
  all,
  all.toReversed(),
  [...all.slice(1), ...all.slice(0, 1)],
]

/** Every run in every order, each under an id of its own. */
const PLAYED = RUNS.flatMap(([name, rows, input]) => orders(rows).map((order) => ({ name, order, input }))).map(
  (played, at) => ({ ...played, at, id: (at + 1).toString(16).padStart(32, '0') }),
)
type Played = (typeof PLAYED)[number]

const send = (receiver: Receiver, spans: readonly Span[]) =>
  receiver.taken({ resourceSpans: [{ scopeSpans: [{ spans }] }] })

/** Sends every other run at once, the rest a span a request. */
const play = async (receiver: Receiver, { order, at, id }: Played): Promise<void> => {
  const spans = order.map(([span_id, parent, operation, tokens]) => span(id, span_id, parent, operation, tokens))
  if (at % 2 === 0) await send(receiver, spans)
  else for (const one of spans) await send(receiver, [one])
}

onEachBackend('usage that agents tell', (backend) => {
  it('counts once, in any order and in separate requests, and alike in all sums', async () => {
    await using receiver = await startReceiver({ backend })
    for (const played of PLAYED) {
      await play(receiver, played)
      const order = played.order.map(([at]) => at)
      assert.deepEqual(await sumsOf(receiver, played.id), sums(played.input), `${played.name}: ${order}`)
    }
    const all = sums(PLAYED.reduce((sum, { input }) => sum + input, 0))
    for (const subject of ['runs', 'models', 'calls']) assert.deepEqual(await statsOf(receiver, `of=${subject}`), all)
  })
})

const sums = (input: number) => ({ input, cached: input / 2, output: input / 10 })

type Counted = Readonly<Record<'input_tokens' | 'cached_input_tokens' | 'output_tokens', number | bigint>>

const counted = ({ input_tokens, cached_input_tokens, output_tokens }: Counted) => ({
  input: Number(input_tokens),
  cached: Number(cached_input_tokens),
  output: Number(output_tokens),
})

/** The sums of a run by its summary and by its table of use, which are equal. */
const sumsOf = async (receiver: Receiver, id: string) => {
  const { run } = await receiver.run(id)
  const { json } = await receiver.started.request('GET', `/api/v1/runs/${id}/use`)
  const rows = (json as { readonly uses: readonly Counted[] }).uses
  const total = (of: keyof Counted) => rows.reduce((all, row) => all + Number(row[of]), 0)
  const used = {
    input_tokens: total('input_tokens'),
    cached_input_tokens: total('cached_input_tokens'),
    output_tokens: total('output_tokens'),
  }
  assert.deepEqual(counted(used), counted(run))
  return counted(run)
}

const statsOf = async ({ started }: Receiver, query: string) => {
  const { status, json, text } = await started.request(
    'GET',
    `/api/v1/stats?since=2023-11-14T00:00:00Z&until=2023-11-16T00:00:00Z&${query}`,
  )
  assert.equal(status, 200, text)
  return counted((json as { readonly totals: Counted }).totals)
}
