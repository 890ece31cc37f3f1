import { allowed, both, caught } from '../expectations.ts'
import { type Expect, type RequestStep, scenario } from '../scenario.ts'
import { agentWork, asking, type Turn } from './agent-work.ts'

const TASK = 'The test "adds tax" fails. Find out why, repair it and run the tests.'

const work: readonly Turn[] = [
  { what: 'runs the tests', call: 'run_tests', arguments: {}, returns: '1 failed: adds tax, expected 119, got 19' },
  { what: 'looks for the code', call: 'search', arguments: { text: 'tax' }, returns: 'src/tax.ts:3' },
  { what: 'reads it', call: 'read_file', arguments: { path: 'src/tax.ts' }, returns: 'return net * 0.19' },
  { what: 'reads the test', call: 'read_file', arguments: { path: 'test/tax.ts' }, returns: 'equal(gross(100), 119)' },
  {
    what: 'repairs the code',
    call: 'edit_file',
    arguments: { path: 'src/tax.ts', old: 'net * 0.19', new: 'net * 1.19' },
    returns: 'edited',
  },
  { what: 'runs the tests again', call: 'run_tests', arguments: {}, returns: '12 passed, 1 failed: rounds' },
  {
    what: 'reads the file once more',
    call: 'read_file',
    arguments: { path: 'src/tax.ts' },
    returns: 'return net * 1.19',
  },
  {
    what: 'repairs the rounding',
    call: 'edit_file',
    arguments: { path: 'src/tax.ts', old: 'return net * 1.19', new: 'return Math.round(net * 119) / 100' },
    returns: 'edited',
  },
  { what: 'checks types', call: 'check_types', arguments: {}, returns: 'no errors' },
]

export const calmWork = scenario({
  id: 'calm-work',
  title: 'An agent at work',
  summary: 'Ten requests of an agent that gets on: nothing is flagged.',
  kind: 'model',
  steps: agentWork(TASK, work, { what: 'reports', says: 'The tax is added and rounded now.' }, () => allowed),
})

const QUESTION = 'What does src/tax.ts do?'
const LOOPED = caught('LOOP_EXACT')

export const exactLoop = scenario({
  id: 'exact-loop',
  title: 'Four identical requests',
  summary: 'The same request again and again is caught the third time.',
  kind: 'model',
  steps: [
    asking('the question', QUESTION, allowed),
    asking('the same question', QUESTION, allowed),
    asking('and again', QUESTION, LOOPED),
    asking('and again', QUESTION, LOOPED),
  ],
})

const same: Turn = {
  what: 'reads a file',
  call: 'read_file',
  arguments: { path: 'src/tax.ts' },
  returns: 'return net * 0.19',
}

export const toolLoop = scenario({
  id: 'tool-loop',
  title: 'The same tool call in a growing history',
  summary: 'No two requests are equal, and still the third equal tool call is seen.',
  kind: 'model',
  steps: agentWork(
    TASK,
    [same, { ...same, what: 'reads it again' }, { ...same, what: 'and again' }],
    { what: 'brings the third result', says: 'I will read it once more.' },
    (index) => (index === 4 ? caught('LOOP_TOOL_CALL') : allowed),
  ),
})

const tries = ['npm run tset', 'npm run tset --silent', 'npx npm run tset', 'npm run-script tset']

export const toolErrorLoop = scenario({
  id: 'tool-error-loop',
  title: 'A tool that fails the same way',
  summary: 'Commands that all differ, and all end in the same error: after four of them the next request is stopped.',
  kind: 'model',
  rules: [
    {
      id: 'tool_error_streak',
      rule_type: 'tool_error_streak',
      threshold: 4,
      window_size: 0,
      action: 'block',
      enabled: true,
    },
  ],
  steps: agentWork(
    TASK,
    tries.map((command, place) => ({
      what: `command ${place + 1}`,
      call: 'run_command',
      arguments: { command },
      returns: '{"exit_code":1,"stderr":"npm error Missing script: tset"}',
    })),
    { what: 'brings the fourth error', says: 'I will try once more.' },
    (index) => (index === 5 ? caught('LOOP_TOOL_ERROR') : allowed),
  ),
})

const FOUND = 'src/tax.ts:3: return net * 0.19'
const places = ['tax', 'tax.ts', 'src/tax', 'net', 'tax', 'tax.ts']

export const noProgress = scenario({
  id: 'no-progress',
  title: 'Work that brings nothing new',
  summary:
    'Searches, two of them made before, that all find what is known: after five of them the model is told, and nothing is refused.',
  kind: 'model',
  rules: [
    { id: 'novelty_stall', rule_type: 'novelty_stall', threshold: 6, window_size: 0, action: 'steer', enabled: true },
  ],
  steps: agentWork(
    TASK,
    places.map((text) => ({ what: `searches for "${text}"`, call: 'search', arguments: { text }, returns: FOUND })),
    { what: 'brings the same once more', says: 'I will search again.' },
    (index) =>
      index === 7 ? both({ decision: 'shadow_flag', reason: 'LOOP_NO_PROGRESS', status: 200, outcome: 'ok' }) : allowed,
  ),
})

const overloaded = { decision: 'allow', status: 503, outcome: 'upstream_error', sees: 'overloaded_error' } as const

const failing = (index: number, expect: Expect): RequestStep => ({
  what: `attempt ${index}`,
  do: 'request',
  say: [{ user: `Summarise chapter ${index}.` }],
  reply: { status: 503, error_type: 'overloaded_error', message: `Overloaded. Request req_playground_${index}` },
  expect,
})

export const errorRetry = scenario({
  id: 'error-retry',
  title: 'One upstream error, again and again',
  summary:
    'Different requests that all end in the same error are stopped after five; ids in the message do not hide it.',
  kind: 'model',
  steps: [
    ...[1, 2, 3, 4, 5].map((index) => failing(index, both(overloaded))),
    failing(6, {
      shadow: { ...overloaded, decision: 'shadow_flag', reason: 'LOOP_ERROR_RETRY' },
      enforce: { decision: 'block', reason: 'LOOP_ERROR_RETRY', status: 429, outcome: 'blocked' },
    }),
  ],
})

const rounds = ['A', 'B', 'C', 'D', 'A', 'B', 'C', 'D', 'A', 'B', 'C', 'D']

export const sequenceLoop = scenario({
  id: 'sequence-loop',
  title: 'A, B, C, D three times',
  summary: 'A cycle of four requests is caught when it closes for the third time.',
  kind: 'model',
  steps: rounds.map((letter, place) =>
    asking(`request ${letter}`, `Look at part ${letter}.`, place === 11 ? caught('LOOP_SEQUENCE') : allowed),
  ),
})

export const recovery = scenario({
  id: 'recovery',
  title: 'The way out of a loop',
  summary: 'A loop is caught; as soon as the user says something new, the session goes on.',
  kind: 'model',
  steps: [
    asking('the question', QUESTION, allowed),
    asking('the same question', QUESTION, allowed),
    asking('and again', QUESTION, LOOPED),
    {
      what: 'the user says something new',
      do: 'request',
      say: [
        { user: QUESTION },
        { assistant: 'Here is what I found.' },
        { user: 'Thank you. Now look at test/tax.ts.' },
      ],
      reply: { text: 'It checks the gross price.', input_tokens: 40, output_tokens: 8 },
      expect: allowed,
    },
  ],
})

const exactRule = { id: 'exact_repeat', rule_type: 'exact_repeat', threshold: 3, window_size: 8 } as const

export const disabledRule = scenario({
  id: 'disabled-rule',
  title: 'A rule that is switched off',
  summary: 'The same loop, and nobody looks.',
  kind: 'model',
  rules: [{ ...exactRule, action: 'block', enabled: false }],
  steps: ['the question', 'the same question', 'and again', 'and again'].map((what) => asking(what, QUESTION, allowed)),
})

export const flagOnly = scenario({
  id: 'flag-only',
  title: 'A rule that only flags',
  summary: 'With action "flag" a rule never blocks, not even in enforce mode.',
  kind: 'model',
  rules: [{ ...exactRule, action: 'flag', enabled: true }],
  steps: [
    asking('the question', QUESTION, allowed),
    asking('the same question', QUESTION, allowed),
    asking('and again', QUESTION, both({ decision: 'shadow_flag', reason: 'LOOP_EXACT', status: 200, outcome: 'ok' })),
  ],
})

/** How a block starts in each dialect. */
const refusals = {
  chat_completions: '{"error":{"type":"guard_block","code":"LOOP_EXACT"',
  messages: '{"type":"error","error":{"type":"guard_block","code":"LOOP_EXACT"',
  responses: '{"error":{"type":"guard_block","code":"LOOP_EXACT"',
}

export const threeStyles = scenario({
  id: 'three-styles',
  title: 'The loop in three dialects',
  summary: 'Chat Completions, Messages and Responses are judged alike, and each client is refused in its own form.',
  kind: 'model',
  steps: Object.entries(refusals).flatMap(([style, sees]) => {
    const question = `What is said in ${style}?`
    const refused = { ...LOOPED, enforce: { ...LOOPED.enforce, sees } }
    return [
      asking(`${style}: the question`, question, allowed, style),
      asking(`${style}: the same question`, question, allowed, style),
      asking(`${style}: and again`, question, refused, style),
    ]
  }),
})
