import { type Mode, type Per, type Period, plainSchema, type Rule, type Session, type Totals } from 'guard-gateway/core'
import { costText, countText } from '#lib/format'

/** Periods of the calendar after which a budget starts over. */
export const PERS = ['minute', 'hour', 'day', 'week', 'month'] as const satisfies readonly Per[]

/** The params that say what a budget is of. */
export interface BudgetParams {
  readonly scope?: string
  readonly per?: string
}

/** The period that a rule's params name; undefined for a budget of a session or of one conversation. */
export const periodOfParams = (params: BudgetParams | undefined): Period | undefined => {
  const scope = params?.scope
  const per = PERS.find((known) => known === params?.per)
  return per !== undefined && (scope === 'agent' || scope === 'project') ? { scope, per } : undefined
}

/** What contradicts itself in the params of a budget. */
export const budgetFault = ({ params }: Rule): { readonly param: string; readonly message: string } | undefined => {
  const { scope = 'session', per }: BudgetParams = params ?? {}
  const isWide = scope === 'agent' || scope === 'project'
  if (isWide && per === undefined)
    return {
      param: 'per',
      message: `is missing: with scope "${scope}" it says when the budget starts over; there is ${PERS.join(', ')}`,
    }
  if (!isWide && per !== undefined)
    return {
      param: 'per',
      message: `cannot be "${per}" with scope "${scope}", which is one budget from its beginning to its end; leave it out, or set scope to agent or project`,
    }
}

/** The present stretch in words. */
const PRESENT: Readonly<Record<Per, string>> = {
  minute: 'this minute',
  hour: 'this hour',
  day: 'today',
  week: 'this week',
  month: 'this month',
}

/** Who has used a budget, as the subject of a sentence; when; and when it starts over. The latter two are empty for a budget of a session. */
export const budgetPhrases = (
  params: BudgetParams | undefined,
  { period }: Pick<Totals, 'period'>,
): { readonly who: string; readonly when: string; readonly next: string } => {
  if (period === undefined) return { who: `the ${params?.scope ?? 'session'}`, when: '', next: '' }
  const who = period.scope === 'agent' && !period.named ? 'whoever names no agent' : `the ${period.scope}`
  return { who, when: ` ${PRESENT[period.per]}`, next: `; ${period.next}` }
}

/** The fields of a finding about a budget besides its message. */
export const budgetFinding = ({ period }: Pick<Totals, 'period'>) =>
  period === undefined
    ? ({ evidence: 'budget' } as const)
    : ({ evidence: 'budget', resets_at: period.resets_at } as const)

declare module 'guard-gateway/core' {
  interface Services {
    rules: Rules
  }
}

/** What is left of one budget. Costs are in millionths of the billing currency. */
export interface BudgetLeft {
  readonly rule_id: string
  readonly rule_type: string
  /** Of the rule. */
  readonly action: string
  readonly project_id: string
  readonly scope: 'session' | 'thread' | 'agent' | 'project'
  /** Null: it is one from beginning to end. */
  readonly per: Per | null
  /** Whose budget it is: null for one of a project, and for the one that all requests without an agent share. */
  readonly agent_id: string | null
  /** Null for one beyond a session. */
  readonly session_id: string | null
  /** What is counted: `requests`, `tokens`, `cost_micro`, or as the rule's detector says. */
  readonly unit: string
  /** Of a cost, where it is known. */
  readonly currency: string | null
  readonly limit: number
  readonly used: number
  readonly left: number
  /** When it starts over, RFC 3339 in UTC; null: never. */
  readonly resets_at: string | null
  /** Where the calendar of `per` is told. */
  readonly time_zone: string | null
}

/** What a call counts for in tokens whose reply nobody saw: what was held for it, or what it sent, estimated from its text. */
export type UnseenUsage = 'reserved' | 'estimated'

/** Who judges requests. */
export interface Rules {
  /** Mode and rules in force for a project. */
  of(project_id: string): Promise<{ readonly mode: Mode; readonly rules: readonly Rule[] }>
  /** Set where a rule in force for a project is a budget: its calls are put on record before they go up. The policy of the project must have been read, as it is for every request. */
  unseen(project_id: string): UnseenUsage | undefined
  /** What is left of each budget in force: of a session, with those of its agent and its project, or of a project and its agents. */
  budgets(of: { readonly session: Session } | { readonly project_id: string }): Promise<readonly BudgetLeft[]>
}

/** The rules that are recommended to whoever wants agents to be stopped, and the command that enforces them. */
export const RECOMMENDED = 'enforce-recommended'
export const ENFORCE_RECOMMENDED = `policy apply ${RECOMMENDED} --mode enforce`

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
