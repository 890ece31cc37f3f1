import { allowed, both } from '../expectations.ts'
import { type Answer, scenario } from '../scenario.ts'
import { asking } from './agent-work.ts'

const streamed: Answer = {
  text: 'The function multiplies the net price.',
  input_tokens: 900,
  output_tokens: 300,
  stream: true,
}

export const streaming = scenario({
  id: 'streaming',
  title: 'Streamed replies',
  summary: 'Events pass one by one; the tokens are on record when the stream closes.',
  kind: 'model',
  steps: [
    {
      what: 'a streamed sentence',
      do: 'request',
      say: [{ user: 'What does src/tax.ts do?' }],
      reply: streamed,
      expect: both({ decision: 'allow', status: 200, outcome: 'ok', total_tokens: 1_200, sees: 'multiplies' }),
    },
    {
      what: 'a streamed tool call',
      do: 'request',
      say: [{ user: 'Run the tests.' }],
      reply: {
        calls: [{ call: 'run_tests', arguments: { only: 'tax' }, id: 'call_1' }],
        input_tokens: 1_000,
        output_tokens: 20,
        stream: true,
      },
      expect: both({ decision: 'allow', status: 200, outcome: 'ok', total_tokens: 1_020, sees: 'run_tests' }),
    },
  ],
})

export const brokenStream = scenario({
  id: 'broken-stream',
  title: 'A stream that breaks off',
  summary:
    'The upstream dies in the middle of a reply: what came is passed on, and the request is on record as truncated.',
  kind: 'model',
  steps: [
    {
      what: 'half an answer',
      do: 'request',
      say: [{ user: 'What does src/tax.ts do?' }],
      reply: { ...streamed, cut_after: 5 },
      expect: both({ decision: 'allow', status: 200, outcome: 'truncated', broken: true, sees: 'The' }),
    },
    asking('the next request', 'What does src/tax.ts do, in short?', allowed),
  ],
})

const CHANT = 'I will now look at the file once more and then answer. '
const LAST_WORDS = 'That was all.'

export const chant = scenario({
  id: 'content-chant',
  title: 'A reply that says the same over and over',
  summary: 'With a rule that may cut, the stream ends as if its tokens had run out; elsewhere it passes to its end.',
  kind: 'model',
  rules: [
    {
      id: 'content_chant',
      rule_type: 'content_chant',
      threshold: 10,
      window_size: 0,
      action: 'block',
      enabled: true,
      params: { cut: true },
    },
  ],
  steps: [
    {
      what: 'a chant of twenty rounds',
      do: 'request',
      say: [{ user: 'What does src/tax.ts do?' }],
      reply: { text: CHANT.repeat(20) + LAST_WORDS, input_tokens: 900, output_tokens: 300, stream: true },
      expect: {
        shadow: { decision: 'allow', status: 200, outcome: 'ok', sees: 'all.' },
        enforce: { decision: 'allow', status: 200, sees: 'once', lacks: 'all.' },
      },
    },
    asking('the next request', 'What does src/tax.ts do, in short?', allowed),
  ],
})

const TOO_LONG = 'This conversation is longer than the model can read.'

export const upstreamError = scenario({
  id: 'upstream-error',
  title: 'An error of the provider',
  summary: 'What a provider answers passes unchanged, errors too.',
  kind: 'model',
  steps: [
    {
      what: 'a request that the provider refuses',
      do: 'request',
      say: [{ user: 'What does the whole repository do?' }],
      reply: { status: 400, error_type: 'invalid_request_error', message: TOO_LONG },
      expect: both({ decision: 'allow', status: 400, outcome: 'upstream_error', sees: TOO_LONG }),
    },
    asking('a shorter one', 'What does src/tax.ts do?', allowed),
  ],
})
