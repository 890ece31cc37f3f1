import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { aCall, aDecision, aReading, aSession, settled } from '../../../kit/settled.ts'
import { expecting } from '../kit.ts'
import { at, type PageBench, partOf, rowIds, startPages, textOf } from './kit.ts'

let bench: PageBench
before(async () => {
  bench = await startPages()
})
after(() => bench.close())

const span = (id: string, from: number, to: number, more: object = {}) => ({
  id,
  name: 'gen_ai.request',
  start_ns: at(from),
  end_ns: at(to),
  ...more,
})

const model = (fingerprint: string) => ({
  attributes: {
    'gen_ai.request.model': 'gpt',
    'gen_ai.usage.input_tokens': 1_000,
    'gen_ai.usage.output_tokens': 200,
    'guard.cost_micro': 2_500,
    'guard.fingerprint': fingerprint,
  },
})

test('rows have tokens and cost, the root those of the run, and the cost rises over the strip', async () => {
  await bench.trace({ trace_id: 'paid', spans: [span('a', 0, 10, model('x')), span('b', 20, 30, model('y'))] })
  const text = await bench.page('/replay/paid')
  assert.match(textOf(partOf(text, 'span-a')), /10 ms 1\.2k 0\.0025$/)
  const [root = ''] = rowIds(text)
  assert.match(textOf(partOf(text, root)), /30 ms 2\.4k 0\.005$/)
  assert.match(text, /<path class="cost" d="M0 29H80V15\.0H239V1\.0H240"\/>/)
  assert.match(textOf(text), /cost up to 0\.005/)
  await bench.trace({ trace_id: 'free', spans: [span('c', 0, 10)] })
  assert.doesNotMatch(await bench.page('/replay/free'), /class="cost"|cost up to/)
})

test('what failed is marked by a shape and a word, not by colour alone', async () => {
  await bench.trace({ trace_id: 'bad', spans: [span('late', 0, 5, { status: 'timeout' }), span('fine', 5, 9)] })
  const text = await bench.page('/replay/bad')
  assert.match(text, /<tr id="span-late" data-row class="model [^"]*failed"/)
  assert.match(textOf(partOf(text, 'span-late')), /✕ timeout$/)
  assert.doesNotMatch(text, /<tr id="span-fine"[^>]*failed/)
  assert.match(text, /<pattern id="hatch"/)
})

const equal = (count: number, more: (index: number) => object = () => ({})) =>
  Array.from({ length: count }, (_, index) =>
    span(`e${index}`, index * 10, index * 10 + 4, { ...model('same'), ...more(index) }),
  )

test('equal siblings are one row with their sums until they are unfolded', async () => {
  await bench.trace({ trace_id: 'folded', spans: [...equal(38), span('other', 400, 410, model('other'))] })
  const text = await bench.page('/replay/folded')
  assert.deepEqual(rowIds(text).slice(1), ['span-e0', 'span-other'])
  const row = partOf(text, 'span-e0')
  assert.match(textOf(row), /gen_ai\.request#1 gpt ×38, equal 374 ms 45\.6k 0\.095$/)
  assert.match(row, /class="equal" href="\?unfolded=e0&amp;span=e0#span-e0" aria-expanded="false"/)
  const open = await bench.page('/replay/folded?unfolded=e0')
  assert.equal(rowIds(open).length, 40)
  assert.match(textOf(partOf(open, 'span-e0')), /×38, equal 4\.0 ms 1\.2k 0\.0025$/)
  assert.match(partOf(open, 'span-e0'), /href="\?span=e0#span-e0" aria-expanded="true"/)
})

test('a selected or found span is never folded away', async () => {
  assert.ok(rowIds(await bench.page('/replay/folded?span=e20')).includes('span-e20'))
  assert.equal(rowIds(await bench.page('/replay/folded?find=gpt')).length, 40)
})

test('siblings with other arguments, outcomes, decisions or steps below are not equal', async () => {
  const decision = { name: 'policy.decision', attributes: { decision: 'shadow_flag' } }
  const differences: readonly ((index: number) => object)[] = [
    (index) => model(`fingerprint ${index}`),
    (index) => ({ status: index % 2 === 0 ? 'ok' : 'error' }),
    (index) => ({ events: index % 2 === 0 ? [decision] : [] }),
    (index) => ({ spans: index % 2 === 0 ? [span(`below${index}`, index * 10, index * 10 + 1)] : [] }),
    () => ({ attributes: {} }),
  ]
  for (const [number, difference] of differences.entries()) {
    await bench.trace({ trace_id: `odd-${number}`, spans: equal(4, difference) })
    const ids = rowIds(await bench.page(`/replay/odd-${number}`))
    assert.deepEqual(ids.filter((id) => /^span-e\d$/.test(id)).length, 4, String(number))
  }
  const below = (index: number) => ({ spans: [span(`tool${index}`, index * 10, index * 10 + 1, model('below'))] })
  await bench.trace({ trace_id: 'alike', spans: equal(4, below) })
  assert.deepEqual(rowIds(await bench.page('/replay/alike')).slice(1), ['span-e0', 'span-tool0'])
})

test('a time that the gateway does not know is “–”', async () => {
  const call = aCall({ id: 'guardreq_1', at: bench.clock.now(), session: aSession() })
  await bench.gateway.hooks.decision.promise(aDecision(), call)
  const reading = aReading({ calls: [{ id: 'toolu_1', tool: 'read_file', args: {} }] })
  await bench.settle(settled({ call, ended_at: bench.clock.now() + 10, forwarded_at: call.at, reading }))
  const text = await bench.page(`/replay/${call.trace?.trace_id}`)
  const [, , tool = ''] = rowIds(text)
  assert.match(textOf(partOf(text, tool)), /^tool\.call#1 read_file – · no result seen$/)
  assert.match(partOf(text, tool), /aria-label="starts at [^"]*, duration not known, no result seen"/)
})

interface Rows {
  readonly columns: readonly string[]
  readonly rows: readonly (readonly unknown[])[]
  readonly next: number | null
}

test('the API gives the rows of a range with their parents, page by page', async () => {
  const step = (id: string, from: number, to: number, more: object = {}) => ({
    ...span(id, from, to, more),
    name: 'step',
  })
  const spans = [
    step('early', 0, 10),
    step('outer', 20, 90, { spans: [step('left', 20, 30), step('inner', 40, 50), step('right', 60, 70)] }),
    step('late', 95, 100),
  ]
  await bench.trace({ trace_id: 'ranged', spans })
  const rows = async (query: string): Promise<Rows> =>
    expecting(200, await bench.send('GET', `/api/v1/runs/ranged/rows?${query}`))
  const ids = ({ rows: found }: Rows) => found.slice(found[0]?.[1] === 0 ? 1 : 0).map(([id]) => id)
  assert.deepEqual(ids(await rows('from=38000000&to=45000000')), ['outer', 'inner'])
  assert.deepEqual(ids(await rows('from=95000000')), ['late'])
  assert.deepEqual(ids(await rows('to=10000000')), ['early'])
  const first = await rows('from=38000000&to=45000000&limit=2')
  assert.deepEqual([ids(first), first.next], [['outer'], 2])
  assert.deepEqual(ids(await rows('from=38000000&to=45000000&after=2')), ['inner'])
  for (const wrong of ['from=x', 'from=5&to=4', 'from=-1'])
    assert.equal((await bench.send('GET', `/api/v1/runs/ranged/rows?${wrong}`)).status, 400, wrong)
  const folded: Rows = expecting(200, await bench.send('GET', '/api/v1/runs/folded/rows'))
  const group = folded.rows[1]?.[folded.columns.indexOf('equal')]
  assert.deepEqual((group as readonly unknown[]).slice(0, 3), [38, 1, 38])
})
