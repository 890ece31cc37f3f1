import { PERS } from 'guard-gateway/lib/budget'
import { Type } from 'guard-gateway/lib/json'
import type { TProperties } from 'typebox'

/** The params of a rule: what is not among these is refused. */
export const ruleParams = <P extends TProperties>(properties: P) =>
  Type.Object(properties, { additionalProperties: false })

export const optionalFlag = (description: string) => Type.Optional(Type.Boolean({ description }))

export const optionalInteger = (minimum: number, maximum: number, description: string) =>
  Type.Optional(Type.Integer({ minimum, maximum, description }))

export const toolNames = (description: string) =>
  Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 128 }), { maxItems: 64, description }))

/** Which earlier requests a rule compares; what ends them, and what a fresh start is, each rule says. */
export const requestParams = (says: { readonly user_message: string; readonly fresh_starts: string }) => ({
  scope: Type.Optional(
    Type.Union([Type.Literal('session'), Type.Literal('thread')], {
      description: 'Whose requests are compared: those of the session, or of one conversation',
    }),
  ),
  reset_on_user_message: optionalFlag(says.user_message),
  ignore_in_flight: optionalFlag(
    'Requests that have not ended do not count, for callers that ask several times at once',
  ),
  ignore_failed: optionalFlag('Requests that failed do not count: their repeat takes their place'),
  ignore_aborted: optionalFlag('Requests whose answer the client did not wait for do not count'),
  ignore_fresh_starts: optionalFlag(says.fresh_starts),
})

/** What a budget is of, and when it starts over. */
export const budgetParams = {
  scope: Type.Optional(
    Type.Enum(['session', 'thread', 'agent', 'project'], {
      description:
        'What is counted together: the session, one conversation of it, or the agent or the project, which need `per`',
    }),
  ),
  per: Type.Optional(
    Type.Enum(PERS, {
      description: 'With the scope agent or project: when the budget starts over; weeks begin on Monday',
    }),
  ),
}
