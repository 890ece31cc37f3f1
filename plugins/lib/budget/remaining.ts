import { plainSchema } from 'guard-gateway/core'
import { costText, countText } from 'guard-gateway/lib/format'
import type { BudgetLeft } from './budget-left.ts'
import { PRESENT } from './period.ts'

const text = { type: 'string' }
const textOrNull = { type: ['string', 'null'] }
const amount = { type: 'number' }

/** The same for the description of an interface. */
export const budgetLeftSchema = plainSchema<BudgetLeft>({
  type: 'object',
  properties: {
    rule_id: text,
    rule_type: text,
    action: text,
    project_id: text,
    scope: { type: 'string', enum: ['session', 'thread', 'agent', 'project'], description: 'What is counted together' },
    per: {
      type: ['string', 'null'],
      enum: ['minute', 'hour', 'day', 'week', 'month', null],
      description: 'After which it starts over; null: it is one from beginning to end',
    },
    agent_id: {
      ...textOrNull,
      description: 'Whose it is; null for one of a project, and for the one that all requests without an agent share',
    },
    session_id: { ...textOrNull, description: 'Null for one beyond a session' },
    unit: {
      ...text,
      description: '`requests`, `tokens`, `cost_micro` (millionths of the billing currency), or as its detector says',
    },
    currency: { ...textOrNull, description: 'Of a cost, where prices tell it' },
    limit: amount,
    used: amount,
    left: amount,
    resets_at: { type: ['string', 'null'], format: 'date-time', description: 'When it starts over' },
    time_zone: { ...textOrNull, description: 'In which `per` is told' },
  },
  required: [
    'rule_id',
    'rule_type',
    'action',
    'project_id',
    'scope',
    'per',
    'agent_id',
    'session_id',
    'unit',
    'currency',
    'limit',
    'used',
    'left',
    'resets_at',
    'time_zone',
  ],
})

/** The remaining share, from 0 to 1. */
export const remainingShare = ({ left, limit }: BudgetLeft): number => (limit === 0 ? 0 : left / limit)

/** Budgets by remaining share, the smallest first. */
export const byRemainingShare = (budgets: readonly BudgetLeft[]): readonly BudgetLeft[] =>
  [...budgets].sort((one, other) => remainingShare(one) - remainingShare(other))

/** The remaining budget in words: `82 % left of 5 USD today`. */
export const remainingText = (budget: BudgetLeft): string => {
  const { per, scope } = budget
  const when = per === null ? `in ${scope === 'thread' ? 'a conversation' : 'the session'}` : PRESENT[per]
  return `${percentText(remainingShare(budget))} left of ${limitText(budget)} ${when}`
}

const percentText = (part: number): string => {
  const percent = part * 100
  return percent > 0 && percent < 1 ? 'under 1 %' : `${Math.floor(percent)} %`
}

/** The limit with its unit: `5 USD`, `50 requests`, `100k tokens`. */
const limitText = ({ unit, currency, limit }: BudgetLeft): string =>
  unit === 'cost_micro'
    ? `${costText(limit)}${currency === null ? ' cost' : ` ${currency}`}`
    : `${countText(limit)} ${unit}`
