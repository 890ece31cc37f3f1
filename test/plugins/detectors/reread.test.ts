import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Finding } from 'guard-gateway/core'
import { reread } from 'guard-gateway/plugins/detectors/reread'
import { detectorConforms } from '../../conformance/detector.ts'
import { conversation, type Item, step, user } from '../../kit/conversation.ts'
import { call, evidence } from '../../kit/evidence.ts'

const shown = (items: readonly Item[], rule = {}) => {
  const seen = conversation(items)
  const measured = reread.measure?.(call({ conversation: seen }), new Map())
  return evidence(reread, 'a', { rule, turns: seen.turns, row: { measures: { reread: measured } } })
}
const detect = (items: readonly Item[], rule = {}) => reread.detect(shown(items, rule)) as Finding | undefined
const repeat = (count: number, of: (n: number) => readonly Item[]): Item[] =>
  Array.from({ length: count }, (_, n) => of(n)).flat()

const file = Array.from({ length: 100 }, (_, n) => `export const value_${n.toString(36)}x = ${n}`)
const lines = (from: number, count = 10) => file.slice(from, from + count).join('\n')
const whole = step('Read', { file_path: 'src/a.ts' }, lines(0, 60))
/** Other pieces of what was seen. */
const pieces = (count: number, tool = 'Read') =>
  repeat(count, (n) => step(tool, { file_path: 'src/a.ts', offset: 1 + n, limit: 10 + n }, lines(n, 10 + n)))

detectorConforms(reread, shown([...whole, ...pieces(6)]))

describe('reread: 6 looks without new lines in 12 turns', () => {
  it('knows one file by its path, whatever range of it and whichever tool', () => {
    assert.equal(detect([...whole, ...pieces(5)]), undefined)
    assert.deepEqual(detect([...whole, ...pieces(6)]), {
      message: 'the same target was looked at in 6 of the last 12 turns, and hardly a line was new',
      evidence: 'history',
      count: 6,
      where: [{ turn: -6 }, { turn: -5 }, { turn: -4 }, { turn: -3 }, { turn: -2 }, { turn: -1 }],
      results_equal: null,
    })
    assert.equal(detect([...whole, ...pieces(3), ...pieces(3, 'view_file')])?.count, 6)
    assert.equal(detect([...whole, ...pieces(3), ...pieces(3)]), undefined)
  })
  it('knows any other look by its arguments without numbers', () => {
    const sed = (n: number) => step('Bash', { command: `sed -n '${n + 1},${n + 20}p' src/a.ts` }, lines(n, 20))
    assert.equal(detect([...whole, ...repeat(6, sed)])?.count, 6)
    const tree = (n: number) => step('list_tree', { root: '.', max_depth: n + 2 }, lines(0, 30))
    assert.equal(detect(repeat(7, tree))?.count, 6)
  })
  it('is silent about paging, about other files and about other questions', () => {
    const page = (n: number) => step('Read', { file_path: 'src/a.ts', offset: n * 10 }, lines(n * 10))
    assert.equal(detect(repeat(10, page)), undefined)
    assert.equal(
      detect([...whole, ...repeat(9, (n) => step('Read', { file_path: `${'abcdefghi'[n]}.ts` }, lines(n)))]),
      undefined,
    )
    const ask = (n: number) => step('grep', { path: 'src/a.ts', pattern: `${'abcdefghi'[n]}` }, lines(n, 2))
    assert.equal(detect([...whole, ...repeat(9, ask)]), undefined)
  })
  it('starts over after a change and after a user message', () => {
    const edit = (n: number) => step('Edit', { file_path: 'src/a.ts', old_string: `${n}` }, 'updated')
    assert.equal(detect([...whole, ...repeat(8, (n) => [...edit(n), ...pieces(1)])]), undefined)
    assert.equal(detect([...whole, ...pieces(5), user('look'), ...pieces(3)]), undefined)
    assert.equal(detect([...whole, ...pieces(6), user('look')]), undefined)
  })
  it('lets waiting and empty results pass', () => {
    const poll = (n: number) => step('TaskOutput', { task_id: 'a', timeout: n }, 'running')
    assert.equal(detect(repeat(9, poll)), undefined)
    assert.equal(detect(repeat(9, (n) => step('Read', { file_path: 'a', offset: n }, ''))), undefined)
  })
})
