import type { Gateway } from 'guard-gateway/core'
import type { CredentialRefusal, McpLogin, McpServer, NoCredential } from 'guard-gateway/lib/mcp-transport'
import { challengeOf, scopesIn } from './challenge.ts'
import { LoginFault } from './login-fault.ts'
import type { HeldLogin, LoginName, LoginRows } from './login-rows.ts'
import { loginEnded, moreScopes, neverLoggedIn, notRenewed, unusable } from './login-texts.ts'
import { type Renewal, renewalDue } from './renewal.ts'

/** So long after it was issued a token that is refused is not renewed again. */
const JUST_ISSUED_MS = 10_000
/** So long a login is used without a look whether another process has ended it. */
const LOOK_AFTER_MS = 5_000

/** The login that all sessions of one server, or of one agent there, show. */
export class SharedLogin implements McpLogin {
  readonly #gateway: Gateway
  readonly #server: McpServer
  readonly #name: LoginName
  readonly #rows: LoginRows
  readonly #renewal: Renewal
  #known: { readonly value: string; readonly due: number; readonly looked: number } | undefined
  #looking: Promise<string | NoCredential> | undefined

  constructor(
    parts: { readonly gateway: Gateway; readonly rows: LoginRows; readonly renewal: Renewal },
    server: McpServer,
    name: LoginName,
  ) {
    this.#gateway = parts.gateway
    this.#rows = parts.rows
    this.#renewal = parts.renewal
    this.#server = server
    this.#name = name
  }

  credential(): string | Promise<string | NoCredential> {
    const { now, tick } = this.#clocks()
    const known = this.#known
    if (known !== undefined && now < known.due && tick - known.looked < LOOK_AFTER_MS) return known.value
    return this.#look()
  }

  async refused(credential: string, refusal: CredentialRefusal): Promise<string | NoCredential | undefined> {
    const held = await this.#rows.read(this.#name)
    if (refusal.status === 403) return this.#forbidden(held, refusal)
    // another call, or another process, was quicker
    if (held?.tokens !== undefined && shownValue(held) !== credential) return this.#look()
    // a look that began earlier gives what was refused
    await this.settled()
    return this.#look(credential)
  }

  /** The login has changed: it is read again before it is shown. */
  forget(): void {
    this.#known = undefined
    // a look that is under way has seen what was before
    void this.settled().then(() => {
      this.#known = undefined
    })
  }

  /** Resolves when no look is under way. */
  async settled(): Promise<void> {
    await this.#looking?.catch(() => {})
  }

  /** One look at a time, whoever waits for it. `refused`: the credential that the server does not take. */
  #look(refused?: string): Promise<string | NoCredential> {
    this.#looking ??= this.#current(refused).finally(() => {
      this.#looking = undefined
    })
    return this.#looking
  }

  async #current(refused: string | undefined): Promise<string | NoCredential> {
    this.#known = undefined
    const held = await this.#rows.read(this.#name)
    if (held === undefined || unusable(held, this.#server) !== undefined) return this.#after(held)
    const { now } = this.#clocks()
    if (refused !== undefined && shownValue(held) === refused) return this.#replaced(held)
    if (now < renewalDue(held.row)) return this.#shown(held)
    // it is early to renew: where that fails, what there is still serves
    const isLive = now < (held.row.expires_at ?? 0)
    return this.#renewed(held, isLive ? () => this.#shown(held) : undefined)
  }

  /** Another credential in the place of one that the server refuses. */
  async #replaced(held: HeldLogin): Promise<string | NoCredential> {
    if (this.#clocks().now - held.row.issued_at >= JUST_ISSUED_MS) return this.#renewed(held, undefined)
    await this.#renewal.end(held.row, 'the server refuses a token that was only just issued.')
    return this.#after(await this.#rows.read(this.#name))
  }

  async #renewed(held: HeldLogin, instead: (() => string) | undefined): Promise<string | NoCredential> {
    try {
      return this.#after(await this.#renewal.renew(this.#server, held))
    } catch (error) {
      if (!(error instanceof LoginFault)) throw error
      return instead?.() ?? notRenewed(this.#name, error.message)
    }
  }

  #after(held: HeldLogin | undefined): string | NoCredential {
    if (held === undefined) return neverLoggedIn(this.#name)
    const reason = unusable(held, this.#server)
    return reason === undefined ? this.#shown(held) : loginEnded(this.#name, reason)
  }

  #shown(held: HeldLogin): string {
    const { now, tick } = this.#clocks()
    const value = shownValue(held)
    const due = renewalDue(held.row)
    // where renewing failed it is tried again soon, and not with each call
    this.#known = {
      value,
      due: due > now ? due : Math.min(now + LOOK_AFTER_MS, held.row.expires_at ?? now),
      looked: tick,
    }
    return value
  }

  async #forbidden(held: HeldLogin | undefined, refusal: CredentialRefusal): Promise<NoCredential | undefined> {
    const { error, scope = '' } = await challengeOf(refusal)
    if (error !== 'insufficient_scope') return undefined
    const wanted = scopesIn(scope)
    if (held !== undefined && held.row.wanted !== scope) await this.#rows.change(held.row, { wanted: scope })
    return moreScopes(this.#name, wanted, this.#server)
  }

  #clocks() {
    const { clock } = this.#gateway
    return { now: clock.now(), tick: clock.tick() }
  }
}

const shownValue = ({ tokens }: HeldLogin): string => `Bearer ${tokens?.access_token ?? ''}`
