import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { buildSpanTree, type TraceSpan } from '#lib/trace'
import { foldCalls } from '../../../../plugins/replay/read/folded-calls.ts'
import { addUse, type Use } from '../../../../plugins/replay/read/use.ts'
import { startService } from '../../../kit/service.ts'
import { anEvent, aRun, aSpan, START } from '../../../kit/traces.ts'
import type { Bundle } from '../kit.ts'

const MS = 1_000_000n

/** A tool call from so many milliseconds on. */
const call = (id: string, owner: TraceSpan['owner'], from: number, more: Partial<TraceSpan> = {}): TraceSpan =>
  aSpan({
    id,
    owner,
    kind: 'tool',
    name: 'tool.call',
    label: 'bash',
    parent_id: 'root',
    start_ns: START + BigInt(from) * MS,
    end_ns: START + BigInt(from + 10) * MS,
    attributes: { 'gen_ai.tool.call.id': 'call_1', [`of.${id}`]: true },
    ...more,
  })

const folded = (...spans: readonly TraceSpan[]) => foldCalls([aSpan(), ...spans], [], 'root').spans.slice(1)
const told = (...spans: readonly TraceSpan[]): readonly string[] =>
  folded(...spans).map(({ id, also_seen = [] }) => [id, ...also_seen.map((one) => one.id)].join('+'))

describe('the same call, told by several', () => {
  it('is one span: that of the MCP proxy, else that of a client', () => {
    const [gateway, client, mcp] = [call('g', 'gateway', 0), call('c', 'client', 2), call('m', 'mcp', 3)]
    assert.deepEqual(told(gateway, client, mcp), ['m+c+g'])
    assert.deepEqual(told(gateway, client), ['c+g'])
    assert.deepEqual(told(gateway), ['g'])
    const [one] = folded(gateway, client, mcp)
    assert.deepEqual(Object.keys(one?.attributes ?? {}).sort(), ['gen_ai.tool.call.id', 'of.c', 'of.g', 'of.m'])
  })

  it('failed if one of them says so', () => {
    const failed = { status: 'error', attributes: { 'gen_ai.tool.call.id': 'call_1', 'error.type': 'tool_error' } }
    const [one] = folded(call('g', 'gateway', 0, failed), call('c', 'client', 2))
    assert.deepEqual([one?.id, one?.status, one?.attributes['error.type']], ['c', 'error', 'tool_error'])
    const [known] = folded(
      call('g', 'gateway', 0),
      call('c', 'client', 2, { ...failed, status_message: 'no such file' }),
    )
    assert.deepEqual([known?.status, known?.status_message], ['error', 'no such file'])
  })

  it('stays several where ids are missing, differ or come again', () => {
    const unnamed = { attributes: {} }
    assert.deepEqual(told(call('g', 'gateway', 0, unnamed), call('c', 'client', 2, unnamed)), ['g', 'c'])
    const other = { attributes: { 'gen_ai.tool.call.id': 'call_2' } }
    assert.deepEqual(told(call('g', 'gateway', 0), call('c', 'client', 2, other)), ['g', 'c'])
    const turns = [
      call('g1', 'gateway', 0),
      call('c1', 'client', 2),
      call('g2', 'gateway', 20),
      call('c2', 'client', 22),
    ]
    assert.deepEqual(told(...turns), ['c1+g1', 'c2+g2'])
    // the program told of the second call alone
    assert.deepEqual(told(...turns.filter(({ id }) => id !== 'c1')), ['g1', 'c2+g2'])
    assert.deepEqual(told(call('model', 'gateway', 0, { kind: 'model' }), call('c', 'client', 2)), ['model', 'c'])
  })

  it('keeps what is below and between its spans, without circles', () => {
    const spans = [
      aSpan(),
      call('outer', 'client', 0),
      aSpan({ id: 'http', kind: 'other', parent_id: 'outer' }),
      call('inner', 'mcp', 1, { parent_id: 'http' }),
      aSpan({ id: 'below', kind: 'other', parent_id: 'inner' }),
    ]
    const { spans: left, events } = foldCalls(spans, [anEvent({ span_id: 'outer' })], 'root')
    const tree = buildSpanTree(aRun(), 'root', { spans: left, events, artifacts: [] })
    assert.deepEqual(
      tree.spans.map(({ id, parent_id, events: own }) => [id, parent_id, own.length]),
      [
        ['root', null, 0],
        ['inner', 'root', 1],
        ['http', 'inner', 0],
        ['below', 'inner', 0],
      ],
    )
  })

  it('leaves the root of a run, whatever it claims to be', () => {
    const root = call('root', 'client', 0, { parent_id: null })
    assert.equal(foldCalls([root, call('m', 'mcp', 1)], [], 'root').spans.length, 2)
  })

  it('keeps an attribute of any name', () => {
    const attributes = JSON.parse('{"gen_ai.tool.call.id":"call_1","__proto__":{"x":1},"constructor":"c"}')
    const [one] = folded(call('g', 'gateway', 0), call('c', 'client', 2, { attributes }))
    assert.deepEqual(
      Object.entries(one?.attributes ?? {})
        .map(([name]) => name)
        .sort(),
      ['__proto__', 'constructor', 'gen_ai.tool.call.id', 'of.g'],
    )
  })

  it('looks at few of the spans around a call', () => {
    let asked = 0
    const deep = Array.from({ length: 2_000 }, (_, n) => {
      const span = call(`s${n}`, 'client', n, { attributes: { 'gen_ai.tool.call.id': `call_${n >> 1}` } })
      const parent_id = n === 0 ? 'root' : `s${n - 1}`
      const get = () => {
        asked++
        return parent_id
      }
      return Object.defineProperty(span, 'parent_id', { enumerable: true, get })
    })
    assert.equal(folded(...deep).length, 1_000)
    assert.ok(asked < 200_000, `${asked} parents`)
  })

  it('is found in linear time', () => {
    const many = Array.from({ length: 20_000 }, (_, at) => call(`s${at}`, at % 2 === 0 ? 'gateway' : 'client', at))
    assert.ok(foldCalls(many, [], 'root').spans.length < 20_000)
  })
})

describe('a call that gateway and program tell of', () => {
  it('is one row with the times of the program, and both records in the bundle', async () => {
    await using service = await startService()
    const reply = {
      id: 'chatcmpl-1',
      model: 'm-1',
      choices: [
        {
          index: 0,
          message: {
            role: 'assistant',
            content: null,
            tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'bash', arguments: '{}' } }],
          },
          finish_reason: 'tool_calls',
        },
      ],
      usage: { prompt_tokens: 20, completion_tokens: 5, total_tokens: 25 },
    }
    service.provider.script({ body: JSON.stringify(reply) })
    const body = { model: 'm-1', messages: [{ role: 'user', content: 'Hello' }] }
    const answer = await service.request('POST', '/v1/chat/completions', body)
    const trace_id = answer.headers.get('x-guard-trace-id')
    const start = BigInt(Date.now()) * MS
    const tool = {
      id: 'theirs',
      name: 'execute_tool bash',
      kind: 'tool',
      start_ns: String(start),
      end_ns: String(start + 600n * MS),
      attributes: { 'gen_ai.tool.call.id': 'call_1', 'gen_ai.tool.name': 'bash' },
    }
    await service.request('POST', '/api/v1/traces', { trace_id, spans: [tool] })
    const bundle = (await service.request('GET', `/api/v1/runs/${trace_id}`)).json as Bundle
    assert.equal(bundle.spans.filter(({ kind }) => kind === 'tool').length, 2)
    const { columns, rows } = (await service.request('GET', `/api/v1/runs/${trace_id}/rows`)).json as {
      readonly columns: readonly string[]
      readonly rows: readonly (readonly unknown[])[]
    }
    const tools = rows.filter((row) => row[columns.indexOf('kind')] === 'tool')
    assert.deepEqual(
      tools.map((row) => ['id', 'duration_ns', 'also_seen'].map((name) => row[columns.indexOf(name)])),
      [['theirs', 600_000_000, ['gateway']]],
    )
    const seen = bundle.spans.find(({ kind, owner }) => kind === 'tool' && owner === 'gateway')
    // a link to the span that is folded selects the one that is left
    const page = await service.request('GET', `/replay/${trace_id}?span=${seen?.id}`)
    assert.match(page.text, /One call, also seen by gateway/)
    assert.match(page.text, /<tr id="span-theirs"[^>]*chosen/)
  })

  it('counts once', () => {
    const { spans } = foldCalls([aSpan(), call('g', 'gateway', 0), call('c', 'client', 2)], [], 'root')
    const uses = new Map<string, Use>()
    addUse(uses, buildSpanTree(aRun(), 'root', { spans, events: [], artifacts: [] }).spans)
    assert.deepEqual(
      [...uses.values()].map(({ calls, durations_ns }) => [calls, durations_ns.length]),
      [[1, 1]],
    )
  })
})
