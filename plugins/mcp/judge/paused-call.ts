import type { GuardError } from 'guard-gateway/core'
import type { Frame } from '#lib/json-rpc'
import { type Judgement, unjudged } from '../audit/index.ts'
import type { Policy } from '../policy/index.ts'
import { type ClientResponse, errorResponse } from '../relay/response.ts'

const SERVER_ERROR = -32000

/** The judgement of a call whose session or agent is paused. The policy and its mode do not matter. */
export const pausedJudgement = ({ code, message }: GuardError, policy: Policy): Judgement => ({
  ...unjudged('refused', message, policy),
  paused: code === 'PAUSED_AGENT' ? code : 'PAUSED_SESSION',
})

/** The response to such a call; over HTTP it has the status that a model request gets. */
export const pausedResponse = ({ status, code, message, place }: GuardError, { id }: Frame): ClientResponse =>
  errorResponse(status, id, SERVER_ERROR, message, code, place.headers)
