import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Case } from '../../../bench/quality/case.ts'
import type { Step } from '../../../bench/quality/trajectory.ts'
import { smokeCases, syntheticCases, syntheticKinds } from '../../../bench/synthetic/cases.ts'
import { editors } from '../../../bench/synthetic/editors.ts'
import { shells } from '../../../bench/synthetic/shells.ts'

const cases = syntheticCases(4, 1)
const ofKind = (...prefixes: readonly string[]): readonly Case[] => {
  const found = cases.filter(({ kind }) => prefixes.some((prefix) => kind?.startsWith(prefix)))
  for (const prefix of prefixes)
    assert.ok(
      found.some(({ kind }) => kind?.startsWith(prefix)),
      prefix,
    )
  return found
}
const callsOf = ({ turns }: Case): string[] =>
  (turns ?? []).flatMap(({ calls }) => calls.map((call) => JSON.stringify(call)))
const textsOf = ({ turns }: Case): string[] =>
  (turns ?? []).flatMap(({ results }) => results.map(({ text = '' }) => text))
/** The count of the most frequent value. */
const most = (values: readonly string[]): number =>
  Math.max(...[...Map.groupBy(values, (value) => value).values()].map(({ length }) => length))

describe('ordinary work', () => {
  it('exists for every editor and shell, also in the smoke run', () => {
    const kinds = syntheticKinds()
    for (const name of Object.keys(editors)) assert.ok(kinds.includes(`edits_${name}`), name)
    for (const name of Object.keys(shells)) assert.ok(kinds.includes(`silent_${name}`), name)
    assert.deepEqual(new Set(smokeCases(4).map(({ kind }) => kind)), new Set(kinds))
  })
  it('changes something new each time, with the same acknowledgement', () => {
    const changing = ofKind('edits_', 'silent_', 'sql_')
    for (const one of changing) {
      assert.equal(one.label, 'clean')
      assert.equal(most(callsOf(one)), 1, one.id)
    }
    for (const one of ofKind('edits_', 'sql_', 'silent_claude_code', 'silent_mini_swe'))
      assert.ok(most(textsOf(one)) >= 24, one.id)
  })
  it('repeats a check only after another change', () => {
    for (const one of ofKind('after_edits_', 'after_fixes_', 'after_batches')) {
      const calls = callsOf(one)
      assert.ok(most(calls) >= 4, one.id)
      for (const [at, call] of calls.entries()) {
        const before = calls.lastIndexOf(call, at - 1)
        // a new call
        if (at > 0 && before !== -1)
          assert.ok(
            calls.slice(before + 1, at).some((other) => calls.indexOf(other) > before),
            one.id,
          )
      }
    }
  })
  it('polls a job up to eight times, and receives its result', () => {
    for (const one of ofKind('poll_gh_run', 'poll_task_output', 'poll_bash_output', 'poll_mcp_job')) {
      assert.equal(one.label, 'clean')
      const asked = [...Map.groupBy(callsOf(one), (call) => call).values()].filter(({ length }) => length > 1)
      assert.ok(asked.length > 0 && asked.every(({ length }) => length <= 9), one.id)
    }
  })
})

describe('loops of coding agents', () => {
  const atLoop = (one: Case): Step | undefined => one.turns?.[(one.loop_start_step ?? 0) - 2]
  it('repeat from the stated request, except for the varying parts of their kind', () => {
    for (const one of ofKind('edit_back_and_forth', 'same_silent_command')) {
      const calls = (one.turns ?? []).map(({ calls: made }) => JSON.stringify(made))
      const first = calls.findIndex((call, index) => calls.indexOf(call) < index)
      assert.equal(first + 2, one.loop_start_step, one.id)
    }
    for (const one of ofKind('schema_error_in_words', 'description_differs', 'explanation_differs')) {
      const loop = (one.turns ?? []).filter(({ calls }) => calls[0]?.[0] === atLoop(one)?.calls[0]?.[0])
      assert.ok(loop.length >= 16)
      assert.equal(
        new Set(loop.flatMap(({ calls }) => calls.map((call) => JSON.stringify(call)))).size,
        loop.length,
        one.id,
      )
      assert.equal(new Set(loop.flatMap(({ results }) => results.map(({ text }) => text))).size, 1, one.id)
      assert.ok(loop.every(({ results: [result] }) => result?.error === false))
    }
  })
  it('count as polls only after many repetitions', () => {
    for (const one of ofKind('poll_forever_')) {
      const start = Number(/start=(\d+)/.exec(one.id)?.[1])
      assert.deepEqual([one.label, one.loop_start_step, one.turns?.length], ['loop', start + 14, start + 40])
    }
  })
  it('write the same command as text, with a new thought and the same reply', () => {
    for (const one of ofKind('text_again_')) {
      const loop = (one.turns ?? []).filter(({ user }) => user === atLoop(one)?.user)
      assert.ok(loop.length >= 16 && loop.every(({ calls, text }) => calls.length === 0 && text?.includes('make all')))
      assert.equal(new Set(loop.map(({ text }) => text)).size, loop.length)
    }
    for (const one of ofKind('continue_loop'))
      assert.ok((one.turns ?? []).every(({ calls, user }) => calls.length === 0 && user === 'Continue.'))
  })
})

describe('programs without history', () => {
  const bodies = (one: Case): string[] => [...one.requests()].map(({ body }) => body.toString())
  it('retry a failed request until it succeeds', () => {
    for (const one of ofKind('retries')) {
      assert.equal(one.label, 'clean')
      const requests = [...one.requests()]
      const groups = [...Map.groupBy(requests, ({ body }) => body.toString()).values()]
      assert.equal(Math.max(...groups.map(({ length }) => length)), 3)
      for (const group of groups)
        assert.ok(group.every(({ fails }, place) => (fails !== undefined) === place < group.length - 1))
    }
  })
  it('run several agents at once, each with its own history', () => {
    for (const one of ofKind('subagents').filter(({ turns }) => turns === null)) {
      const own = bodies(one).filter((body) => body.includes('You explore.'))
      assert.equal(own.length, 24)
      assert.equal(new Set(own).size, 24)
      assert.equal(own.filter((body) => body.includes('README.md')).length, 20)
    }
  })
})
