import { detector, type Finding, type Totals } from 'guard-gateway/core'
import { budgetParams, optionalFlag, ruleParams } from 'guard-gateway/lib/detection'
import { budgetFault, budgetFinding, budgetPhrases } from '#lib/budget'

/** The session, or the agent or the project in a stretch of the calendar, has had its number of requests, those under way included; with `reserve` those that failed give their place back. */
export const maxRequests = detector({
  id: 'max_requests',
  code: 'LIMIT_REQUESTS',
  summary: 'A budget of requests is used up',
  version: '1',
  kind: 'budget',
  defaults: { threshold: 50, window_size: 0 },
  unit: 'requests',
  params: ruleParams({
    reserve: optionalFlag('A request only holds a place while it is under way: one that failed gives it back'),
    ...budgetParams,
  }),

  faultIn: budgetFault,

  used: ({ rule, session }) => session.requests - returnedIn(rule.params, session),

  detect({ rule, session }): Finding | undefined {
    const returned = returnedIn(rule.params, session)
    const count = session.requests - returned
    if (count < rule.threshold) return undefined
    const failed = returned === 0 ? '' : `, ${returned} that failed not counted`
    const { who, when, next } = budgetPhrases(rule.params, session)
    return {
      message: `${who} has sent ${count} of ${rule.threshold} requests${when}${failed}${next}`,
      ...budgetFinding(session),
      count,
    }
  },
})

/** Places that were given back. */
const returnedIn = (params: { readonly reserve?: boolean } | undefined, { failed }: Totals): number =>
  params?.reserve === true ? failed : 0
