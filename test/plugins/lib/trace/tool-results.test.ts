import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { RepliedTool, Turn } from 'guard-gateway/core'
import { type CallRecord, newCallRecord, ToolResults, toolSpanId, turnText, withToolResult } from '#lib/trace'
import { aCall, settled } from '../../../kit/settled.ts'
import { aSpan, START } from '../../../kit/traces.ts'

const same = <T>(value: T): T => value
const template = newCallRecord(
  settled({ call: aCall() }),
  { text: same, value: same, judgeId: () => 'plain' },
  { request: null, response: null },
  false,
)

const SPAN = '00000000000000'
const asked = (id: string | null, tool = 'bash', argument_hash = `${id}`): RepliedTool => ({ id, tool, argument_hash })

/** Results as the turns of a request hold them. */
const answered = (...ids: readonly (string | null)[]): string => {
  const calls = ids.map((id, at): Turn['calls'][number] => ({
    key: `k${at}`,
    tool: 'bash',
    id,
    result: 'r',
    error: id?.startsWith('bad') === true,
    passed: false,
    effect: null,
  }))
  return turnText([{ calls, item: 1, user_after: false }], same)
}

interface Request {
  readonly parent?: string | null
  readonly calls?: readonly RepliedTool[]
  readonly turns?: string | null
}

/** Requests of a run, one a second; the n-th has the id `n` and a span that ends in it. */
const records = (requests: readonly Request[]): readonly CallRecord[] =>
  requests.map(({ parent = null, calls = [], turns = null }, at) => ({
    ...template,
    id: String(at),
    parent,
    turns,
    tool_calls: calls.length === 0 ? null : calls,
    trace_id: 'a'.repeat(32),
    span_id: `${SPAN}0${at}`,
    received_at: 1_000 * at,
    ended_at: 1_000 * at + 1,
  }))

/** Which request told of which call, as `0.1: 2`; `!` behind a failure. */
const told = (requests: readonly Request[], order = (all: readonly CallRecord[]) => all): readonly string[] => {
  const results = new ToolResults()
  for (const record of order(records(requests))) results.add(record)
  const found = results.bySpan()
  return requests.flatMap(({ calls = [] }, at) =>
    calls.flatMap((_call, index) => {
      const result = found.get(toolSpanId(`${SPAN}0${at}`, index))
      return result === undefined ? [] : [`${at}.${index}: ${result.seen_in}${result.error ? '!' : ''}`]
    }),
  )
}

describe('results of tool calls', () => {
  const history = [
    { calls: [asked('one'), asked('bad')] },
    { parent: '0', turns: answered('one', 'bad') },
    { parent: '1', turns: answered('one', 'bad') },
  ]

  it('are those of the first request that holds them, in whatever order requests are read', () => {
    assert.deepEqual(told(history), ['0.0: 1', '0.1: 1!'])
    assert.deepEqual(
      told(history, (all) => all.toReversed()),
      ['0.0: 1', '0.1: 1!'],
    )
  })

  it('belong to the newest call of an id that comes again', () => {
    const again = [
      { calls: [asked('call_0')] },
      { parent: '0', turns: answered('call_0'), calls: [asked('call_0')] },
      { parent: '1', turns: answered('call_0') },
    ]
    assert.deepEqual(told(again), ['0.0: 1', '1.0: 2'])
  })

  it('belong to the subagent that they are of, where two count alike', () => {
    const two = [
      { calls: [asked('call_0')] },
      { calls: [asked('call_0')] },
      { parent: '0', turns: answered('call_0') },
      { parent: '1', turns: answered('call_0') },
    ]
    assert.deepEqual(told(two), ['0.0: 2', '1.0: 3'])
  })

  it('without ids, or with ids of the client’s own, follow the order of the parent’s reply', () => {
    const unnamed = [
      { calls: [asked(null, 'bash', 'a'), asked(null, 'other', 'b'), asked(null, 'bash', 'c')] },
      { turns: answered(null) },
      { parent: '0', turns: answered(null, null) },
    ]
    assert.deepEqual(told(unnamed), ['0.0: 2', '0.2: 2'])
    assert.deepEqual(told([{ calls: [asked('theirs')] }, { parent: '0', turns: answered('ours') }]), ['0.0: 1'])
  })

  it('belong to all equal calls of a reply, as a conversation holds one of them', () => {
    const equal = [{ calls: [asked('one', 'bash', 'x'), asked('two', 'bash', 'x'), asked('three', 'bash', 'y')] }]
    assert.deepEqual(told([...equal, { parent: '0', turns: answered('one') }]), ['0.0: 1', '0.1: 1'])
  })

  it('that no reply asked for are passed over', () => {
    assert.deepEqual(told([{ turns: answered('gone') }, { calls: [asked('one')] }]), [])
  })

  it('give a span its end and status, and no other writer’s span', () => {
    const results = new Map([['s', { seen_at: 5, seen_in: 'r', error: true }]])
    const open = aSpan({ id: 's', kind: 'tool', owner: 'gateway', status: 'unset', start_ns: 1_000_000n, end_ns: null })
    const { status, end_ns, attributes } = withToolResult(open, results)
    assert.deepEqual(
      [status, end_ns, attributes['error.type'], attributes['guard.tool.observed']],
      ['error', 5_000_000n, 'tool_error', 'next_request'],
    )
    const theirs = aSpan({ id: 's', kind: 'tool', owner: 'client' })
    assert.equal(withToolResult(theirs, results), theirs)
    // a clock that was set back gives no negative duration
    assert.equal(withToolResult({ ...open, start_ns: START }, results).end_ns, START)
  })
})
