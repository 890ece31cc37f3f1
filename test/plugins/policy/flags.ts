import type { Rule } from 'guard-gateway/core'
import { called, type Item, result, says, step, system, turn, user } from '../../kit/conversation.ts'
import { aReading } from '../../kit/settled.ts'
import { busy } from './kit.ts'

const begin: readonly Item[] = [system('s'), user('fix it')]
const repeat = <T>(count: number, of: (index: number) => readonly T[]): T[] =>
  Array.from({ length: count }, (_, index) => of(index)).flat()
const growing = (...steps: readonly (readonly Item[])[]): Item[][] =>
  steps.map((_, index) => [...begin, ...steps.slice(0, index + 1).flat()])

/** A turn whose call failed, always in the same way. */
const failing = (n: number): Item[] => [turn(called('run', { n }, `call_${n}`)), result(`call_${n}`, 'no rule', true)]

/** A conversation of its own, and three turns of it. */
const spawned = (opening: string): Item[][] => {
  const turns = [1, 2, 3].map((n) => step('read', { n }, `line ${n}`))
  return [0, 1, 2, 3].map((count) => [system('s'), user(opening), ...turns.slice(0, count).flat()])
}

/** Requests that make a rule speak at the last of them, and what it says of results and places. */
export interface Flag {
  readonly tools?: unknown
  readonly rule: Partial<Rule> & { readonly rule_type: string }
  readonly requests: readonly (readonly Item[])[]
  readonly results_equal: boolean | null
  /** The requests it names, from the last (0) backwards. */
  readonly names: readonly number[]
  /** How the requests end. */
  readonly ends?: object
  readonly reply?: string
}

const same = (answer: string | ((n: number) => string), count = 3) =>
  growing(...repeat(count, (n) => [step('read', {}, typeof answer === 'string' ? answer : answer(n))]))
const pair = (n: number, differing = '') =>
  step(n % 2 === 0 ? 'edit' : 'test', {}, n % 2 === 0 ? `a${differing}` : `b${differing}`)

/** Every rule, by what it examines. */
export const flags: readonly (readonly [what: string, flag: Flag])[] = [
  [
    'exact_repeat',
    {
      rule: { rule_type: 'exact_repeat' },
      requests: [[...begin], [...begin], [...begin]],
      results_equal: true,
      names: [2, 1, 0],
    },
  ],
  [
    'tool_repeat, equal results',
    { rule: { rule_type: 'tool_repeat' }, requests: same('a'), results_equal: true, names: [2, 1, 0] },
  ],
  [
    'tool_repeat, differing results',
    { rule: { rule_type: 'tool_repeat' }, requests: same((n) => `a${n}`), results_equal: false, names: [2, 1, 0] },
  ],
  [
    'tool_repeat, no results',
    { rule: { rule_type: 'tool_repeat' }, requests: same(''), results_equal: null, names: [2, 1, 0] },
  ],
  [
    'tool_repeat among requests',
    {
      rule: { rule_type: 'tool_repeat' },
      requests: repeat(3, (n) => [[system('s'), user(`question ${n}`), ...step('read')]]),
      results_equal: true,
      names: [2, 1, 0],
    },
  ],
  [
    'sequence_repeat, equal results',
    {
      rule: { rule_type: 'sequence_repeat' },
      requests: growing(...repeat(6, (n) => [pair(n)])),
      results_equal: true,
      names: [5, 4, 3, 2, 1, 0],
    },
  ],
  [
    'sequence_repeat, differing results',
    {
      rule: { rule_type: 'sequence_repeat' },
      requests: growing(...repeat(6, (n) => [pair(n, `${n}`)])),
      results_equal: false,
      names: [5, 4, 3, 2, 1, 0],
    },
  ],
  [
    'sequence_repeat among requests',
    {
      rule: { rule_type: 'sequence_repeat', threshold: 2 },
      requests: repeat(2, () => [
        [...begin, user('a')],
        [...begin, user('b')],
      ]),
      results_equal: true,
      names: [3, 2, 1, 0],
    },
  ],
  [
    'novelty_stall',
    {
      rule: { rule_type: 'novelty_stall', threshold: 2, params: { repeated_calls: 0 } },
      requests: growing(...repeat(3, (n) => [step('grep', { n }, 'port = 80')])),
      results_equal: true,
      names: [1, 0],
    },
  ],
  [
    'stale_turns',
    {
      rule: { rule_type: 'stale_turns', threshold: 2, window_size: 3 },
      requests: growing(...repeat(3, () => [step('grep', {}, 'port = 80')])),
      results_equal: true,
      names: [1, 0],
    },
  ],
  [
    'tool_error_streak',
    {
      rule: { rule_type: 'tool_error_streak' },
      requests: growing(...repeat(4, (n) => [failing(n)])),
      results_equal: true,
      names: [3, 2, 1, 0],
    },
  ],
  [
    'text_repeat',
    {
      rule: { rule_type: 'text_repeat' },
      requests: growing(...repeat(3, () => [[says('I will look.'), user('Continue.')]])),
      results_equal: true,
      names: [2, 1, 0],
    },
  ],
  [
    'worded_error',
    {
      rule: { rule_type: 'worded_error' },
      requests: growing(...repeat(4, (n) => [step('create', { n }, 'Error: content is required')])),
      results_equal: true,
      names: [3, 2, 1, 0],
    },
  ],
  [
    'reworded_call',
    {
      rule: { rule_type: 'reworded_call' },
      requests: growing(...repeat(3, (n) => [step('look', { path: 'a', description: `${n}` }, 'a')])),
      results_equal: true,
      names: [2, 1, 0],
    },
  ],
  [
    'reread',
    {
      rule: { rule_type: 'reread', threshold: 2 },
      requests: growing(...repeat(3, (n) => [step('read', { path: 'a', offset: n }, 'port = 80')])),
      results_equal: null,
      names: [1, 0],
    },
  ],
  [
    'thread_respawn',
    {
      rule: { rule_type: 'thread_respawn', threshold: 2 },
      requests: repeat(2, (n) => spawned(`summary ${n}`)),
      results_equal: null,
      names: [7, 3],
    },
  ],
  [
    'reasoning_only',
    {
      rule: { rule_type: 'reasoning_only', threshold: 2 },
      requests: repeat(3, () => [[...begin]]),
      ends: { reading: aReading({ wordless: true }) },
      results_equal: null,
      names: [2, 1],
    },
  ],
  [
    'error_retry',
    {
      rule: { rule_type: 'error_retry', threshold: 2 },
      requests: repeat(3, (n) => [[...begin, ...step('a', { n })]]),
      ends: busy,
      results_equal: true,
      names: [2, 1],
    },
  ],
  [
    'max_requests',
    {
      rule: { rule_type: 'max_requests', threshold: 1 },
      requests: [[...begin], [...begin]],
      results_equal: null,
      names: [],
    },
  ],
  [
    'max_tokens',
    {
      rule: { rule_type: 'max_tokens', threshold: 1 },
      requests: [[...begin], [...begin]],
      results_equal: null,
      names: [],
    },
  ],
  [
    'max_cost',
    {
      rule: { rule_type: 'max_cost', threshold: 1, params: { scope: 'thread' } },
      requests: [[...begin], [...begin]],
      ends: { cost: { cost_micro: 5, cost_source: 'priced', price_version: '1' } },
      results_equal: null,
      names: [],
    },
  ],
  [
    'content_chant',
    {
      rule: { rule_type: 'content_chant' },
      requests: [[...begin]],
      reply: 'I will read the file once more to see what is wrong with it now. '.repeat(40),
      results_equal: null,
      names: [0],
    },
  ],
  [
    'restart_loop',
    {
      rule: { rule_type: 'restart_loop' },
      requests: Array.from({ length: 6 }, () => [...begin]),
      tools: [{ name: 'read_file' }],
      results_equal: null,
      names: [5, 4, 3, 2, 1],
    },
  ],
  [
    'a detector of one sentence',
    { rule: { rule_type: 'curt' }, requests: [[...begin]], results_equal: null, names: [] },
  ],
]
