import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type CallRecord, callColumns, callRecords, type ToolRecord, toolRecords } from '#lib/trace'
import { isUsual } from '../../../../plugins/replay/write/attribute-index.ts'
import { addCallAttributes, addCallWords, toolWords } from '../../../../plugins/replay/write/search-words.ts'
import { factsOf, sameFacts } from '../../../../plugins/replay/write/sum-only-calls.ts'
import { aCall, settled } from '../../../kit/settled.ts'
import { startBench } from '../../recorder/kit.ts'

const TRACE = { trace_id: 'a'.repeat(32), span_id: 'b'.repeat(16), parent_span_id: null }

const recorded = async (): Promise<CallRecord> => {
  const bench = await startBench()
  await bench.settle(settled({ call: aCall() }))
  const call = (await bench.gateway.storage.get('calls', 'guardreq_1')) as CallRecord
  await bench.close()
  return call
}

const namesIn = ({ spans, event }: ReturnType<typeof callRecords>): readonly string[] =>
  [...spans, event].flatMap(({ attributes }) => Object.keys(attributes))

const COLUMNS: Readonly<Record<string, string>> = callColumns.columns

/** Another value of a column. */
const other = (name: string, value: unknown): unknown => {
  if (value === null) return COLUMNS[name] === 'text' ? 'other' : COLUMNS[name] === 'json' ? { other: 1 } : 17
  if (typeof value === 'boolean') return !value
  if (typeof value === 'number') return value + 17
  if (typeof value === 'object' && value !== null) return { ...value, other: 'other' }
  return 'other'
}

const attributesIn = (call: CallRecord): ReadonlySet<string> => {
  const words = new Set<string>()
  addCallAttributes(words, call, TRACE)
  return words
}

describe('the index of attributes', () => {
  it('knows every attribute that recorded requests have', async () => {
    const call = await recorded()
    const given = (name: string, value: unknown): unknown => value ?? (COLUMNS[name] === 'text' ? 'x' : 1)
    const full = Object.fromEntries(Object.entries(call).map(([name, value]) => [name, given(name, value)]))
    const record = {
      ...full,
      notes: null,
      matches: null,
      faults: null,
      tool_calls: [{ id: 'c', tool: 't', argument_hash: 'h' }],
    }
    const unknown = namesIn(callRecords(record as unknown as CallRecord, TRACE)).filter((name) => !isUsual(name))
    assert.deepEqual(unknown, [])
  })

  it('changes with no column of a request that is not compared before the fast path', async () => {
    const call = await recorded()
    const indexed = attributesIn(call)
    const apart = new Set(['finish_reason', 'tool_calls', 'matches', 'faults'])
    for (const [name, value] of Object.entries(call)) {
      if (apart.has(name)) continue
      const changed = { ...call, [name]: other(name, value) } as CallRecord
      const hasNew = [...attributesIn(changed)].some((word) => !indexed.has(word))
      assert.ok(!hasNew || !sameFacts(changed, factsOf(call)), `"${name}" is indexed, but not compared`)
    }
  })

  it('has finish reasons and tools of every request that is looked at', async () => {
    const call = await recorded()
    const words = new Set<string>()
    const tool_calls = [{ id: 'c', tool: 'grep', argument_hash: null }] as unknown as CallRecord['tool_calls']
    addCallWords(words, { ...call, finish_reason: 'tool_use', tool_calls }, (text) => text)
    const all = attributesIn({ ...call, finish_reason: 'tool_use', tool_calls })
    const before = attributesIn(call)
    const added = [...all].filter((word) => !before.has(word))
    assert.ok(added.length >= 2)
    for (const word of added) assert.ok(words.has(word))
  })

  it('knows every attribute that recorded tool calls have', () => {
    const record = {
      ...{ id: 'aud_1', at: 1, trace_id: 't', span_id: 's', parent_span_id: null, project_id: 'p', session_id: 'm' },
      ...{ server_id: 'fs', transport: 'http', protocol_version: '2025-11-25', request_id: '1', tool: 'read' },
      ...{
        argument_hash: 'h',
        action: 'allow',
        reason_code: 'MCP_X',
        reason: 'because',
        forwarded: true,
        mode: 'enforce',
      },
      ...{
        rule_ids: ['rule', 'other'],
        approval_id: 'apr_1',
        policy_version: 'v',
        outcome: 'error',
        duration_us: 5,
        traced: true,
        tool_call_id: 'call_1',
      },
    } satisfies ToolRecord
    const { span, event } = toolRecords(record)
    const names = [span, event].flatMap(({ attributes }) => Object.keys(attributes))
    assert.deepEqual(
      names.filter((name) => !isUsual(name)),
      [],
    )
    const words = toolWords(record)
    for (const word of ['fs', 'read', 'allow', 'enforce', 'mcp_x', 'because', 'error', 'rule'])
      assert.ok(words.has(word), word)
  })
})
