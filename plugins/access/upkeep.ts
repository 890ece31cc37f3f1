import type { Gateway } from 'guard-gateway/core'

const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS
/** Records of who did what are kept so long. */
const AUDIT_MS = 400 * DAY_MS
const AT_ONCE = 1_000

/** Removes records of who did what that are older than 400 days, and logins that have ended. */
export const removeOld = async ({ storage, clock }: Gateway): Promise<void> => {
  const now = clock.now()
  const removeAll = async (remove: () => Promise<number>): Promise<void> => {
    while ((await remove()) === AT_ONCE);
  }
  await removeAll(() => storage.remove('audit', { at: { lt: now - AUDIT_MS } }, AT_ONCE))
  await removeAll(() => storage.remove('logins', { expires_at: { lt: now } }, AT_ONCE))
}

/** Does so once a day, in one process of those that share a storage. */
export class Upkeep {
  readonly #gateway: Gateway
  #timer: NodeJS.Timeout | undefined
  #running: Promise<void> = Promise.resolve()

  constructor(gateway: Gateway) {
    this.#gateway = gateway
  }

  begin(): void {
    this.#schedule(MINUTE_MS)
  }

  async end(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    await this.#running
  }

  #schedule(ms: number): void {
    this.#timer = setTimeout(() => {
      this.#running = this.#pass()
    }, ms).unref()
  }

  async #pass(): Promise<void> {
    const leads = this.#gateway.service('cluster').get()?.leads ?? true
    if (leads) await removeOld(this.#gateway).catch((error: unknown) => this.#gateway.fault(error, 'access:upkeep'))
    if (this.#timer !== undefined) this.#schedule(DAY_MS)
  }
}
