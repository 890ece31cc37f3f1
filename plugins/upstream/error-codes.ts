import { errorCodes } from 'guard-gateway/core'

export const upstreamErrors = errorCodes(401, 'authentication_error', {
  LOGIN_MISSING: [
    'The upstream takes the login of the client, and the request brought none',
    'Log the agent in at its provider, and show the gateway key as x-guard-key; "guard run" and "guard setup --passthrough" do that.',
  ],
})
