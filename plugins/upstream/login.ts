import { type Gateway, GuardError } from 'guard-gateway/core'
import { clientCredentials, isCredentialName } from '#lib/http'
import { upstreamErrors } from './error-codes.ts'
import { loginFor } from './headers.ts'
import type { Upstream } from './upstream.ts'

/** A request that may bring a login: a call, or one that no rule judges. */
interface LoginRequest {
  readonly raw_headers: readonly string[]
  /** With its question mark, or empty. */
  readonly query: string
}

/** A scheme's name says nothing without what follows it. */
const EMPTY = /^\s*(?:(?:bearer|basic|token)\s*)?$/i
/** Providers that take a key in the address take it under these names. */
const QUERY_KEY = /[?&](?:key|api[-_]?key|subscription-key|access_token)=[^&]/i

/** The client's login is the only credential of this upstream. */
export const needsLogin = ({ rules }: Upstream): boolean =>
  rules.auth === 'passthrough' && ![...rules.own].some(isCredentialName)

/** Why an upstream is not asked: it would be without any credential. Undefined where there is one. */
export const missingLogin = (
  { secrets }: Gateway,
  upstream: Upstream,
  request: LoginRequest,
): GuardError | undefined => {
  if (!needsLogin(upstream) || QUERY_KEY.test(request.query)) return undefined
  const login = loginFor(
    upstream.rules,
    { raw: request.raw_headers, login: clientCredentials.get(request) ?? [] },
    secrets,
  )
  if (login.some((text, index) => index % 2 === 1 && !EMPTY.test(text))) return undefined
  return new GuardError(
    upstreamErrors.LOGIN_MISSING,
    `Upstream "${upstream.name}" passes on the client's own login (auth: passthrough), and this request brought none, so the provider was not asked. Log the agent in at its provider, and show the gateway key as x-guard-key beside that login, as "guard run -- <agent>" and "guard setup <client> --passthrough" do. Or give the upstream an api_key and another auth in guard-config.yml.`,
    // clients that take a 401 for an expired key would retry for minutes
    { headers: { 'x-should-retry': 'false' } },
  )
}
