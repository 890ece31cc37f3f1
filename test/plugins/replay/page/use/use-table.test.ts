import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { at, type PageBench, startPages, textOf } from '../kit.ts'

let bench: PageBench
before(async () => {
  bench = await startPages()
  await bench.trace({ trace_id: 'one', agent_name: 'coder', session_id: 'ses', spans: spans('a', 4) })
  await bench.trace({ trace_id: 'two', agent_name: 'coder', session_id: 'ses', spans: spans('b', 2) })
})
after(() => bench.close())

const span = (id: string, name: string, ms: number, more: object) => ({
  id,
  name,
  start_ns: at(0),
  end_ns: at(ms),
  ...more,
})

const model = {
  attributes: { 'gen_ai.request.model': 'gpt', 'gen_ai.usage.input_tokens': 900, 'gen_ai.usage.output_tokens': 100 },
}
const tool = { attributes: { 'gen_ai.tool.name': 'bash' } }

const spans = (id: string, tools: number) => [
  span(`${id}m`, 'gen_ai.request', 2_000, model),
  ...Array.from({ length: tools }, (_, index) =>
    span(`${id}${index}`, 'tool.call', 100 * (index + 1), index === 0 ? { ...tool, status: 'error' } : tool),
  ),
]

test('a run has a table by model and tool', async () => {
  const text = textOf(await bench.page('/replay/one?view=use'))
  assert.match(text, /Model gpt 1 call 0 errors 2\.0 s p50 2\.0 s p95 1\.0k tokens 0 cost/)
  assert.match(text, /Tool bash 4 calls ✕ 1 error 200 ms p50 400 ms p95/)
  await bench.trace({ trace_id: 'idle', spans: [] })
  assert.match(textOf(await bench.page('/replay/idle?view=use')), /calls no model, tool or command/)
})

test('an agent has the same over its runs', async () => {
  const section = textOf(await bench.page('/agents/coder'))
  assert.match(
    section,
    /Models and tools .* gpt 2 calls .* 2\.0k tokens .* bash 6 calls ✕ 2 errors 200 ms p50 400 ms p95/,
  )
  assert.doesNotMatch(section, /Of the newest/)
})

test('a changed run is counted anew, and what is cut is said', async () => {
  await bench.trace({ trace_id: 'two', spans: [span('more', 'tool.call', 5, tool)] })
  assert.match(textOf(await bench.page('/agents/coder')), /bash 7 calls/)
  for (let run = 0; run < 50; run++)
    await bench.trace({ trace_id: `r${run}`, agent_name: 'coder', spans: spans('x', 1) })
  const text = textOf(await bench.page('/agents/coder'))
  assert.match(text, /bash 50 calls/)
  assert.match(text, /Of the newest 50 runs\./)
})

test('runs beyond 20,000 spans are left out, the newest first', async () => {
  const many = (from: number) =>
    Array.from({ length: 10_000 }, (_, index) => span(`l${from + index}`, 'tool.call', 1, tool))
  const long = async (trace_id: string) => {
    for (const from of [0, 10_000]) await bench.trace({ trace_id, agent_name: 'runner', spans: many(from) })
  }
  await long('long')
  assert.match(textOf(await bench.page('/agents/runner')), /The newest run is too long to be summed here/)
  await bench.trace({ trace_id: 'short', agent_name: 'runner', spans: spans('s', 1) })
  assert.match(textOf(await bench.page('/agents/runner')), /bash 1 call .*Of the newest run\./)
})
