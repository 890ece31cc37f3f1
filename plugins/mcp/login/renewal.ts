import { setTimeout as delay } from 'node:timers/promises'
import type { Gateway } from 'guard-gateway/core'
import type { McpServer } from '#lib/mcp-transport'
import { addressRules } from './address-rules.ts'
import { scopesIn } from './challenge.ts'
import { LoginFault } from './login-fault.ts'
import type { HeldLogin, LoginRows } from './login-rows.ts'
import { requestsOf } from './metadata-request.ts'
import { renewedTokens, type TokenResponse } from './oauth-calls.ts'
import type { LoginTokens } from './sealed-tokens.ts'
import type { McpLoginRow } from './tables.ts'

/** How long one process has to renew tokens before another may try. */
const CLAIM_MS = 30_000
const LOOK_MS = 50
/** A token is renewed so long before it ends, or in the last tenth of a shorter life. */
const EARLY_MS = 60_000
const LONGEST_MS = 10 * 365 * 86_400_000

/** When a token is to be renewed: soon before it ends. */
export const renewalDue = ({ expires_at, issued_at }: McpLoginRow): number =>
  expires_at === null ? Number.POSITIVE_INFINITY : expires_at - Math.min(EARLY_MS, (expires_at - issued_at) / 10)

/** What is kept of tokens beside them. */
export const aboutTokens = ({ expires_in }: TokenResponse, now: number) => ({
  expires_at: expires_in === undefined ? null : now + Math.min(Math.max(0, expires_in) * 1_000, LONGEST_MS),
  issued_at: now,
})

/** Renews tokens, one process at a time: a refresh token mostly serves once. */
export class Renewal {
  readonly #gateway: Gateway
  readonly #rows: LoginRows
  readonly #signal: AbortSignal

  constructor(gateway: Gateway, rows: LoginRows, signal: AbortSignal) {
    this.#gateway = gateway
    this.#rows = rows
    this.#signal = signal
  }

  /** The login with other tokens, whoever renewed them; undefined: it is there no more. Throws LoginFault. */
  async renew(server: McpServer, held: HeldLogin): Promise<HeldLogin | undefined> {
    const { row, tokens } = held
    if (tokens?.refresh_token === undefined)
      return this.#ended(held, 'its token is good no more, and nothing renews it.')
    const until = this.#gateway.clock.tick() + CLAIM_MS
    while (!(await this.#rows.claim(row, this.#gateway.clock.now() + CLAIM_MS))) {
      const now = await this.#rows.read(row)
      if (now === undefined || now.row.version !== row.version || now.row.state === 'ended') return now
      if (this.#gateway.clock.tick() > until) throw new LoginFault('another process has been at it for too long.')
      await delay(LOOK_MS, undefined, { signal: this.#signal })
    }
    return this.#renewed(server, held, { ...tokens, refresh_token: tokens.refresh_token })
  }

  async #renewed(
    server: McpServer,
    held: HeldLogin,
    tokens: LoginTokens & { readonly refresh_token: string },
  ): Promise<HeldLogin | undefined> {
    const { row } = held
    try {
      const { token_endpoint } = tokens.server
      await addressRules(server).checked(token_endpoint, 'The token_endpoint of the authorization server')
      const send = requestsOf(this.#gateway, server, this.#signal)
      const tokenResponse = await renewedTokens(this.#gateway, send, { ...tokens, server: { ...tokens.server } })
      // kept before it is used: the refresh token that was sent serves nobody any more
      await this.#keep(row, tokens, tokenResponse)
      return await this.#rows.read(row)
    } catch (error) {
      if (error instanceof LoginFault && error.isFinal) return this.#ended(held, lowered(error.message))
      await this.#rows.change(row, { renewing_until: 0 })
      throw error
    }
  }

  async #keep(row: McpLoginRow, tokens: LoginTokens, tokenResponse: TokenResponse): Promise<void> {
    const { access_token, refresh_token = tokens.refresh_token, scope } = tokenResponse
    const sealed = await this.#rows.seal({
      ...tokens,
      access_token,
      ...(refresh_token === undefined ? {} : { refresh_token }),
    })
    await this.#rows.change(row, {
      ...aboutTokens(tokenResponse, this.#gateway.clock.now()),
      ...(scope === undefined ? {} : { scopes: scopesIn(scope).join(' ') }),
      sealed,
      version: row.version + 1,
      renewing_until: 0,
    })
  }

  /** Ends a login for a reason; what another process has made of it meanwhile stays. */
  async #ended({ row }: HeldLogin, reason: string): Promise<HeldLogin | undefined> {
    await this.end(row, reason)
    return this.#rows.read(row)
  }

  end(row: McpLoginRow, reason: string): Promise<boolean> {
    return this.#rows.change(row, { state: 'ended', reason, renewing_until: 0 })
  }
}

const lowered = (sentence: string): string => sentence.charAt(0).toLowerCase() + sentence.slice(1)
