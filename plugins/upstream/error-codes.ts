import { errorCodes } from 'guard-gateway/core'

export const upstreamErrors = {
  ...errorCodes(401, 'authentication_error', {
    LOGIN_MISSING: [
      'The upstream takes the login of the client, and the request brought none',
      'Log the agent in at its provider, and show the gateway key as x-guard-key; "guard run" and "guard setup --passthrough" do that.',
    ],
  }),
  ...errorCodes(503, 'overloaded_error', {
    CIRCUIT_OPEN: [
      'The upstream has failed several times in a row and is not asked for a while',
      'Try again after the time in retry-after; "guard status" shows which upstream it is, and circuit in guard-config.yml says when this happens.',
    ],
  }),
}
