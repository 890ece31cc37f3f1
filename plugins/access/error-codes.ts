import { errorCodes } from 'guard-gateway/core'

export const accessErrors = {
  ...errorCodes(401, 'authentication_error', {
    APPROVER_KEY_REQUIRED: [
      'The approver key is missing or wrong',
      'Send it as x-guard-approver-key; only a person should know it, never an agent.',
    ],
    KEY_REFUSED: [
      'The key is unknown, revoked or expired',
      'Make another with "guard key create", or ask whoever administers the gateway.',
    ],
  }),
  ...errorCodes(404, 'not_found_error', {
    ACCESS_KEY_NOT_FOUND: ['There is no such live key', 'List them with GET /api/keys.'],
  }),
  ...errorCodes(409, 'conflict_error', {
    TOO_MANY_ACCESS_KEYS: ['There are as many live keys as there may be', 'Revoke one first.'],
  }),
}
