import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { TraceSpan } from '#lib/trace'
import { allAre, best, event, span, tagOf } from '../failure-cases.ts'

describe('failure tag test_failure', () => {
  allAre('test_failure', {
    'a span named so that failed': span({ name: 'test.run', status: 'error' }),
    'a label': span({ name: 'command.exec', label: 'vitest', status: 'error' }),
    'a command with an exit code': span({
      name: 'command.exec',
      attributes: { 'process.command': 'npm test', exit_code: 1 },
    }),
    'a command by its line': span({
      attributes: { 'process.command_line': 'python -m pytest', 'process.exit.code': '2' },
    }),
    'a case that failed': event('x', { 'test.case.name': 'a', 'test.case.result.status': 'fail' }),
    'a suite that failed': event('x', { 'test.suite.run.status': 'failure' }),
    'a count of failures': span({ attributes: { 'tests.failed': 3 } }),
    'a count of failures of the run': { attributes: { 'tests.failed': 3 } },
    'an event': event('test.failed'),
    'another event': event('unittest error'),
  })
  allAre(undefined, {
    'not the fastest': span({ name: 'fastest', status: 'error' }),
    'not a failure of something else': span({ name: 'build', status: 'error', attributes: { exit_code: 1 } }),
    'not a test that passed': span({ name: 'test.run', attributes: { exit_code: 0, 'tests.failed': 0 } }),
    'not a test that runs': span({ name: 'test.run', status: 'running', end_ns: null }),
  })
  for (const [name, failed] of Object.entries({
    tests: true,
    pytest: true,
    jest: true,
    mocha: true,
    junit: true,
    rspec: true,
    testing: false,
  })) {
    it(`${failed ? 'recognises' : 'ignores'} ${name}`, () => {
      assert.equal(tagOf(span({ name, status: 'error' })), failed ? 'test_failure' : undefined)
    })
  }

  const test = (id: string, at: bigint, exit_code: number): Partial<TraceSpan> => ({
    id,
    name: 'test.run',
    start_ns: at,
    end_ns: at + 5n,
    attributes: { exit_code },
  })
  it('depends on the last result in a successful run', () => {
    const [failed, passed] = [test('f', 10n, 1), test('p', 20n, 0)]
    assert.equal(tagOf({ spans: [failed, passed], status: 'ok' }), undefined)
    assert.equal(tagOf({ spans: [passed, failed], status: 'ok' }), undefined)
    const again = test('g', 30n, 1)
    assert.equal(best({ spans: [failed, passed, again], status: 'ok' })?.evidence.span_id, 'g')
  })
  it('depends on any result in a failed run', () => {
    const failed = { spans: [test('f', 10n, 1), test('p', 20n, 0)] }
    assert.equal(best(failed)?.evidence.span_id, 'f')
  })
  it('prefers a passed command to a failed case in it', () => {
    const command = { name: 'npm test', start_ns: 10n, end_ns: 90n, attributes: { exit_code: 0 } }
    const flaky = { name: 'test.failed', time_ns: 50n }
    assert.equal(tagOf({ spans: [command], events: [flaky], status: 'ok' }), undefined)
  })
  it('prefers the failed one of two results at the same time', () => {
    for (const spans of [
      [test('f', 10n, 1), test('p', 10n, 0)],
      [test('p', 10n, 0), test('f', 10n, 1)],
    ]) {
      assert.equal(tagOf({ spans, status: 'ok' }), 'test_failure')
    }
  })
})
