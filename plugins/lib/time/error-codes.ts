import { errorCodes } from 'guard-gateway/core'

export const timeErrors = errorCodes(400, 'invalid_request_error', {
  TOO_MANY_BUCKETS: ['These are more steps than 2,000', 'Ask for a shorter time, or for a longer step.'],
})
