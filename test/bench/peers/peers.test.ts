import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { findPeers, peers } from '../../../bench/peers/index.ts'
import type { Step } from '../../../bench/quality/trajectory.ts'

const step = (tool: string, args: unknown, text: string, over: Partial<Step> = {}, error = false): Step => ({
  calls: [[tool, args]],
  results: [{ text, chars: text.length, error, empty: text === '' }],
  ...over,
})
const read = (file: string, text: string, over: Partial<Step> = {}): Step => step('read', { file }, text, over)
const fails = (file: string, text: string): Step => step('make', { file }, text, {}, true)
const says = (text: string, user?: string): Step => ({
  calls: [],
  results: [],
  text,
  ...(user === undefined ? {} : { user }),
})
const times = (count: number, one: (index: number) => Step): Step[] =>
  Array.from({ length: count }, (_, index) => one(index))

/** The turn, counted from 1, after which a peer stops the agent, and the rule. */
const stop = (id: string, turns: readonly Step[]): readonly [number, string] | null => {
  const [peer] = findPeers([id])
  const say = peer?.watch()
  for (const [index, turn] of turns.entries()) {
    const rule = say?.(turn)
    if (rule !== undefined) return [index + 1, rule]
  }
  return null
}

describe('peers', () => {
  it('name the source and version of their rule', () => {
    assert.deepEqual(new Set(findPeers(['all'])), new Set(peers))
    for (const { source, version, thresholds } of peers)
      assert.ok(source.length > 0 && version.length > 0 && Object.keys(thresholds).length > 0)
  })
  it('OpenHands: four equal pairs, three errors of one action, six alternating pairs, three messages', () => {
    assert.deepEqual(
      stop(
        'openhands',
        times(9, () => read('a', 'x')),
      ),
      [4, 'action_observation'],
    )
    assert.equal(
      stop(
        'openhands',
        times(9, (index) => read('a', `x${index}`)),
      ),
      null,
    )
    assert.deepEqual(
      stop(
        'openhands',
        times(9, (index) => fails('a', `no ${index}`)),
      ),
      [3, 'action_error'],
    )
    assert.equal(
      stop(
        'openhands',
        times(9, (index) => fails(`a${index}`, 'no')),
      ),
      null,
    )
    assert.deepEqual(
      stop(
        'openhands',
        times(9, (index) => read(`${index % 2}`, `${index % 2}`)),
      ),
      [6, 'alternating_pattern'],
    )
    assert.deepEqual(
      stop(
        'openhands',
        times(9, () => says('Well.')),
      ),
      [3, 'monologue'],
    )
  })
  it('OpenHands: a user message resets the count, and another thought makes another action', () => {
    const asked = times(9, (index) => read('a', 'x', index % 3 === 2 ? { user: 'Again.' } : {}))
    assert.equal(stop('openhands', asked), null)
    const thinking = times(9, (index) => read('a', 'x', { text: `I think ${index}` }))
    assert.equal(stop('openhands', thinking), null)
    assert.deepEqual(stop('openhands_actions', thinking), [4, 'action_observation'])
  })
  it('Gemini CLI: five equal calls in a row within a prompt, whatever their results', () => {
    assert.deepEqual(
      stop(
        'gemini_cli',
        times(9, (index) => read('a', `x${index}`)),
      ),
      [5, 'tool_call_loop'],
    )
    assert.equal(
      stop('gemini_cli', times(9, (index) => read(index === 3 ? 'b' : `a${index > 3}`, 'x')).slice(0, 8)),
      null,
    )
    assert.equal(
      stop(
        'gemini_cli',
        times(9, () => read('a', 'x', { user: 'Again.' })),
      ),
      null,
    )
    const atOnce = { calls: times(5, () => read('a', 'x')).flatMap(({ calls }) => calls), results: [] }
    assert.deepEqual(stop('gemini_cli', [atOnce]), [1, 'tool_call_loop'])
  })
  it('Cline: five equal calls in a row without their progress, and three turns without a call', () => {
    const told = (index: number) => step('read_file', { path: 'a', task_progress: `${index}` }, 'x')
    assert.deepEqual(stop('cline', times(9, told)), [5, 'repeated_call'])
    assert.equal(stop('cline', times(4, told)), null)
    assert.deepEqual(
      stop(
        'cline',
        times(5, () => says('Well.', 'Use a tool.')),
      ),
      [3, 'mistake_limit'],
    )
    assert.equal(
      stop(
        'cline',
        times(5, (index) => says('Well.', `And ${index}?`)),
      ),
      null,
    )
  })
  it('goose: the fourth call of a tool after the same error three times', () => {
    assert.deepEqual(
      stop(
        'goose',
        times(9, (index) => fails(`a${index}`, 'no such key')),
      ),
      [4, 'REP-002'],
    )
    assert.equal(
      stop(
        'goose',
        times(9, (index) => fails('a', `${index} has no key`)),
      ),
      null,
    )
    assert.equal(
      stop(
        'goose',
        times(9, (index) => read(`a${index}`, 'no such key')),
      ),
      null,
    )
    const other = [...times(3, () => fails('a', 'no')), read('b', 'x'), ...times(3, () => fails('a', 'no'))]
    assert.equal(stop('goose', other), null)
    const long = 'x'.repeat(100)
    assert.deepEqual(
      stop(
        'goose',
        times(5, (index) => fails('a', `${long}${index}`)),
      ),
      [4, 'REP-002'],
    )
  })
  it('opencode: three equal calls in one message, and as documented in several', () => {
    const turns = times(9, (index) => read('a', `x${index}`))
    assert.equal(stop('opencode', turns), null)
    assert.deepEqual(stop('opencode_turns', turns), [3, 'doom_loop'])
    const atOnce = { calls: turns.slice(0, 3).flatMap(({ calls }) => calls), results: [] }
    assert.deepEqual(stop('opencode', [read('b', 'x'), atOnce]), [2, 'doom_loop'])
  })
})
