import type { Frame, GuardError } from 'guard-gateway/core'
import { type Judgement, unjudged } from '../audit/index.ts'
import type { Policy } from '../policy/index.ts'
import { type ClientResponse, errorResponse } from '../relay/response.ts'

const SERVER_ERROR = -32000

/** What is on record of a call whose session or agent is paused: the policy has no say in it, nor has its mode. */
export const pausedJudgement = ({ code, message }: GuardError, policy: Policy): Judgement => ({
  ...unjudged('refused', message, policy),
  paused: code === 'PAUSED_AGENT' ? code : 'PAUSED_SESSION',
})

/** What its client reads: over HTTP with the status that a model request gets. */
export const pausedResponse = ({ status, code, message, place }: GuardError, { id }: Frame): ClientResponse =>
  errorResponse(status, id, SERVER_ERROR, message, code, place.headers)
