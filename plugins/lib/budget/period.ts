import type { Per, Period, Rule, Totals } from 'guard-gateway/core'

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
export const PRESENT: Readonly<Record<Per, string>> = {
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
