import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Finding } from 'guard-gateway/core'
import { rewordedCall } from 'guard-gateway/plugins/detectors/reworded-call'
import { detectorConforms } from '../../conformance/detector.ts'
import { conversation, type Item, step, user } from '../../kit/conversation.ts'
import { call, evidence } from '../../kit/evidence.ts'

const shown = (items: readonly Item[], rule = {}) => {
  const seen = conversation(items)
  const measured = rewordedCall.measure?.(call({ conversation: seen }), new Map())
  return evidence(rewordedCall, 'a', { rule, turns: seen.turns, row: { measures: { reworded_call: measured } } })
}
const detect = (items: readonly Item[], rule = {}) => rewordedCall.detect(shown(items, rule)) as Finding | undefined
const repeat = (count: number, of: (n: number) => readonly Item[]): Item[] =>
  Array.from({ length: count }, (_, n) => of(n)).flat()

const test = (n: number) => step('Bash', { command: 'npm test', description: `Run the tests, try ${n}` }, '1 failed')

/** Calls that differ in prose alone, by the client whose they are. */
const clients: Readonly<Record<string, (n: number) => Item[]>> = {
  'Claude Code, Bash': test,
  'Codex, update_plan': (n) =>
    step('update_plan', { explanation: `so ${n}`, plan: [{ step: 'Build', status: 'in_progress' }] }, 'Plan updated'),
  'Codex, shell': (n) => step('shell', { command: ['ls'], justification: `see ${n}` }, 'a.ts'),
  'Gemini CLI, replace': (n) =>
    step('replace', { file_path: 'a', old_string: 'x', new_string: 'y', instruction: `fix ${n}` }, '0 occurrences'),
  'an agent that thinks within calls': (n) => step('run', { thought: `hm ${n}`, cmd: 'make' }, 'no rule'),
}

detectorConforms(rewordedCall, shown(repeat(3, test)))

describe('reworded_call: 3 in 8 turns', () => {
  for (const [who, made] of Object.entries(clients)) {
    it(`knows the same call of ${who}`, () => {
      assert.equal(detect(repeat(2, made)), undefined)
      assert.deepEqual(detect(repeat(3, made)), {
        message: 'the same call was made 3 times under other descriptions, with the same result',
        evidence: 'history',
        count: 3,
        where: [{ turn: -3 }, { turn: -2 }, { turn: -1 }],
        results_equal: true,
      })
    })
  }
  it('is silent where anything else differs', () => {
    assert.equal(
      detect(repeat(5, (n) => step('Bash', { command: `npm test ${n}`, description: 'Test' }, 'ok'))),
      undefined,
    )
    assert.equal(
      detect(repeat(5, (n) => step('Bash', { command: 'npm test', description: `${n}` }, `ok ${n}`))),
      undefined,
    )
    assert.equal(detect(repeat(5, (n) => step('Bash', { command: 'npm test', description: `${n}` }, ''))), undefined)
  })
  it('leaves calls that are nothing but prose to themselves', () => {
    assert.equal(detect(repeat(5, (n) => step('think', { thought: `${n}` }, 'noted'))), undefined)
    assert.equal(detect(repeat(5, () => step('read', { path: 'a' }, 'a'))), undefined)
  })
  it('takes a call after another change for a check, and waits with who waits', () => {
    const edit = (n: number) => step('Edit', { old_string: `${n}`, new_string: 'x' }, 'updated')
    assert.equal(detect(repeat(4, (n) => [...edit(n), ...test(n)])), undefined)
    const poll = (n: number) => step('Bash', { command: 'sleep 9; gh run view 1', description: `${n}` }, 'queued')
    assert.equal(detect(repeat(6, poll)), undefined)
  })
  it('lets a user message pass', () => {
    assert.equal(detect([...repeat(2, test), user('go on'), ...test(3)]), undefined)
    assert.equal(detect([...repeat(3, test), user('go on')]), undefined)
  })
})
