import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Finding, Row } from 'guard-gateway/core'
import { threadRespawn } from 'guard-gateway/plugins/detectors/thread-respawn'
import { detectorConforms } from '../../conformance/detector.ts'
import { conversation, step } from '../../kit/conversation.ts'
import { evidence } from '../../kit/evidence.ts'
import { aRow, NOON } from '../../kit/settled.ts'

const SECOND = 1000

/** A conversation: its first request, then one for each call that it made. */
interface Spawn {
  readonly thread: string
  readonly at: number
  readonly calls: readonly string[]
  /** Between requests, and how long each takes, in seconds. */
  readonly takes?: number
}

const turnOf = (path: string) => conversation(step('read_file', { path }, 'text')).turns

const rowsOf = ({ thread, at, calls, takes = 2 }: Spawn): Row[] =>
  [undefined, ...calls].map((path, index) =>
    aRow({
      id: `${thread}_${at}_${index}`,
      thread,
      root: index === 0,
      at: NOON + (at + index * takes) * SECOND,
      ended_at: NOON + (at + index * takes + 1) * SECOND,
      new_turns: path === undefined ? [] : turnOf(path),
    }),
  )

const first = ['README.md', 'src/a.ts', 'test/a.ts']

/** What the last request of the last conversation is shown. */
const shown = (spawns: readonly Spawn[], rule = {}) => {
  const rows = spawns.flatMap(rowsOf).sort((one, other) => one.at - other.at)
  const last = rowsOf(spawns.at(-1) as Spawn).at(-1)?.id
  const inHand = rows.findIndex(({ id }) => id === last)
  const turns = (spawns.at(-1)?.calls ?? []).flatMap(turnOf)
  return evidence(threadRespawn, 'a', { rule, row: rows[inHand] as Row, past: rows.slice(0, inHand).reverse(), turns })
}
const detect = (spawns: readonly Spawn[], rule = {}) => threadRespawn.detect(shown(spawns, rule)) as Finding | undefined

const again = (count: number, apart = 20, calls: (n: number) => readonly string[] = () => first): Spawn[] =>
  Array.from({ length: count }, (_, n) => ({ thread: `t${n}`, at: n * apart, calls: calls(n) }))

detectorConforms(threadRespawn, shown(again(4)))

describe('thread_respawn: 4 conversations that begin with the same three turns', () => {
  it('speaks at the third turn of the fourth, and names where each began', () => {
    assert.equal(detect(again(3)), undefined)
    assert.equal(detect([...again(3), { thread: 't3', at: 60, calls: first.slice(0, 2) }]), undefined)
    assert.deepEqual(detect(again(4)), {
      message: '4 conversations of the session began with the same calls, one after another',
      evidence: 'session',
      count: 4,
      where: [{ request: 't0_0_0' }, { request: 't1_20_0' }, { request: 't2_40_0' }, { request: 't3_60_0' }],
      results_equal: null,
    })
  })
  it('knows conversations that begin with one and the same text, and so share a thread', () => {
    assert.equal(detect(again(4).map((spawn) => ({ ...spawn, thread: 'one' })))?.count, 4)
  })
  it('goes on where the conversation does the same as the one before, and is silent once it does not', () => {
    const longer = [...first, 'src/b.ts']
    assert.equal(detect(again(4, 20, () => longer))?.count, 4)
    assert.equal(detect(again(4, 20, (n) => [...first, `src/${n}.ts`])), undefined)
  })
  it('is silent about conversations that begin in other ways', () => {
    assert.equal(detect(again(6, 20, (n) => ['README.md', `src/${n}.ts`, 'test/a.ts'])), undefined)
  })
  it('does not count several at once', () => {
    assert.equal(detect(again(5, 1)), undefined)
  })
  it('does not count what a person began anew', () => {
    assert.equal(detect(again(5, 120)), undefined)
    assert.equal(detect(again(5, 120), { params: { pause_seconds: 300 } })?.count, 5)
  })
  it('looks no further back than half an hour', () => {
    const slow = again(4, 700).map((spawn) => ({ ...spawn, takes: 230 }))
    assert.equal(detect(slow), undefined)
    assert.equal(detect(slow, { params: { within_seconds: 7200 } })?.count, 4)
  })
})
