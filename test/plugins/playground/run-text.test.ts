import assert from 'node:assert/strict'
import { test } from 'node:test'
import { stepLine } from '../../../plugins/playground/run-text.ts'
import { fakeIo } from '../../kit/io.ts'

const came = {
  index: 3,
  what: 'and again',
  decision: 'allow',
  reason: null,
  action: null,
  forwarded: null,
  outcome: 'ok',
  http_status: 200,
  total_tokens: 7,
  broken: false,
}

test('a step that ended otherwise tells of each expectation what came instead', () => {
  const expected = { decision: 'block', reason: 'LOOP_EXACT', status: 429, sees: 'Guard', lacks: 'Hello' } as const
  const missed = ['decision', 'reason', 'status', 'sees', 'lacks']
  const [first, ...lines] = stepLine({ ...came, expected, matched: false, missed }, { options: {} }, fakeIo()).split(
    '\n',
  )
  assert.match(first ?? '', /and again .* unexpected$/)
  assert.deepEqual(
    lines.map((line) => line.trim()),
    [
      'decision: expected block, came allow',
      'reason: expected LOOP_EXACT, came none',
      'status: expected 429, came 200',
      'the answer does not hold "Guard"',
      'the answer holds "Hello"',
    ],
  )
})
