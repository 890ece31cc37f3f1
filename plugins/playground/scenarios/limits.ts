import { allowed, both, caught } from '../expectations.ts'
import { scenario } from '../scenario.ts'
import { asking } from './agent-work.ts'

const LIMIT = 5
const upTo = (count: number): readonly number[] => Array.from({ length: count }, (_, place) => place + 1)

export const requestLimit = scenario({
  id: 'request-limit',
  title: 'A session of five requests',
  summary: 'With max_requests lowered to 5 the sixth request is one too many.',
  kind: 'model',
  rules: [
    { id: 'max_requests', rule_type: 'max_requests', threshold: LIMIT, window_size: 0, action: 'block', enabled: true },
  ],
  steps: upTo(LIMIT + 1).map((index) =>
    asking(`request ${index}`, `Look at part ${index}.`, index > LIMIT ? caught('LIMIT_REQUESTS') : allowed),
  ),
})

export const tokenLimit = scenario({
  id: 'token-limit',
  title: 'A session of 100,000 tokens',
  summary: 'Replies of 40,000 tokens each: three go over the limit, so the fourth request is stopped.',
  kind: 'model',
  steps: upTo(4).map((index) => ({
    what: `chapter ${index}`,
    do: 'request',
    say: [{ user: `Translate chapter ${index}.` }],
    reply: { text: 'Here is the translation.', input_tokens: 30_000, output_tokens: 10_000 },
    expect:
      index === 4
        ? caught('LIMIT_TOKENS')
        : both({ decision: 'allow', status: 200, outcome: 'ok', total_tokens: 40_000 }),
  })),
})

const REPLY_COST = 400_000

export const costLimit = scenario({
  id: 'cost-limit',
  title: 'A session that may cost 1.00',
  summary: 'Replies of 0.40 each: three go over the limit, so the fourth request is stopped.',
  kind: 'model',
  rules: [
    { id: 'max_cost', rule_type: 'max_cost', threshold: 1_000_000, window_size: 0, action: 'block', enabled: true },
  ],
  steps: upTo(4).map((index) => ({
    what: `drawing ${index}`,
    do: 'request',
    say: [{ user: `Describe drawing ${index}.` }],
    reply: { text: 'It shows a bridge.', input_tokens: 2_000, output_tokens: 300, cost_micro: REPLY_COST },
    expect: index === 4 ? caught('LIMIT_COST') : allowed,
  })),
})
