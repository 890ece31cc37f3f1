import { Type } from '#lib/json'

const moment = (description: string) => Type.Optional(Type.String({ description }))
const count = Type.Integer({ minimum: 0 })
const textOrNull = Type.Union([Type.String(), Type.Null()])
const instant = Type.String({ format: 'date-time' })

export const reportQuery = Type.Object({
  since: moment(
    'A UTC day, an RFC 3339 time, or an age such as 24h. Seven days ago if absent. Counts from the beginning of its hour.',
  ),
  until: moment('The same; counts to the end of its hour. Now if absent.'),
  project_id: Type.Optional(Type.String()),
  limit: Type.Integer({ minimum: 1, maximum: 200, default: 20, description: 'The most sessions to list.' }),
})

const sinceFlag = {
  requests_since_flag: Type.Integer({ minimum: 0, description: 'The flagged request and those after it.' }),
  tokens_since_flag: Type.Integer({ minimum: 0, description: 'Tokens of these requests.' }),
  cost_since_flag_micro: Type.Integer({ description: 'Millionths of the billing currency.' }),
}
const savings = { sessions: count, ...sinceFlag }
const rule = {
  rule_id: textOrNull,
  reason: textOrNull,
  action: Type.Union([Type.String(), Type.Null()], { description: 'Null: no rule of a policy said one.' }),
  would_refuse: Type.Boolean({ description: 'Enforcing would have refused the flagged request.' }),
  flagged: count,
  blocked: count,
  blocked_retries: Type.Integer({ minimum: 0, description: 'Identical requests that were blocked again.' }),
}

export const reportAnswer = Type.Object({
  since: instant,
  until: instant,
  project_id: textOrNull,
  currency: Type.Union([Type.String(), Type.Null()], { description: 'Currency of the prices in force.' }),
  saved: Type.Object(savings, {
    description:
      'What enforcing would have saved at most: an agent that is refused may go on in another way. Blocked requests cost nothing and are not in it.',
  }),
  flagged: count,
  blocked: count,
  blocked_retries: count,
  rules: Type.Array(Type.Object({ ...rule, ...savings }), { description: 'Those that cost most first.' }),
  projects: Type.Array(Type.Object({ project_id: Type.String(), ...savings }), {
    description: 'What enforcing would have saved in each project, the most first.',
  }),
  sessions: Type.Array(
    Type.Object({
      session_id: Type.String(),
      name: textOrNull,
      external_id: textOrNull,
      agent_id: textOrNull,
      project_id: Type.String(),
      ...rule,
      ...sinceFlag,
      cost_micro: Type.Union([Type.Integer(), Type.Null()], {
        description: 'Of all of the session; null where it is not on record any more.',
      }),
    }),
    { description: 'Each session with each rule that spoke in it, those that cost most first.' },
  ),
  more: Type.Integer({ minimum: 0, description: 'How many of these are left out.' }),
})
