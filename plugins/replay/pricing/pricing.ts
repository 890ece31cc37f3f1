import { readFile, stat } from 'node:fs/promises'
import {
  type Cost,
  errorBody,
  type Fragment,
  type Gateway,
  GuardError,
  type Settled,
  type SpanDraft,
  type Usage,
} from 'guard-gateway/core'
import { withFileLocation } from '#lib/errors'
import { replayErrors } from '../error-codes.ts'
import type { SpanRow } from '../tables.ts'
import { countOf, countsUsage, mergedKind } from '../write/kind.ts'
import { mergedAttributes } from '../write/merge.ts'
import { chargeOf, costOf, type Terms } from './cost.ts'
import { modelsOf, reportedCostOf, storedSpansOf, termsOf, unpriced, usageOf } from './priced-span.ts'
import { type Prices, readPrices } from './prices.ts'

/** A change is in force within a second. */
const POLL_MS = 1_000
/** Consequence of a file that was never valid. */
const NO_PRICES = 'Until it can be used every request costs 0, and rules about cost never match.'

/** Prices that are older are said to be so. */
export const STALE_DAYS = 90
const DAY_MS = 86_400_000
const DOLLARS = 'USD'

/** Health of the price file. */
export interface PricingHealth {
  readonly status: 'ok' | 'error'
  readonly file: string | null
  readonly version: string | null
  readonly currency: string | null
  readonly models: number
  /** Date for which its prices are right; null if it says none. */
  readonly as_of: string | null
  /** Days since then. */
  readonly age_days: number | null
  /** Its prices are older than 90 days. */
  readonly stale: boolean
  readonly error?: { readonly code: string; readonly message: string }
}

/** Prices of model usage from a file that is reloaded on change. An invalid file leaves the last valid one in force. */
export class Pricing {
  readonly #gateway: Gateway
  readonly #file: string | undefined
  #prices: Prices | undefined
  #seen = ''
  #checking: Promise<void> | undefined
  #looking: NodeJS.Timeout | undefined
  #error: unknown

  constructor(gateway: Gateway, file: string | undefined) {
    this.#gateway = gateway
    this.#file = file === '' ? undefined : file
  }

  /** Reads the file, and polls it for changes. */
  async start(): Promise<void> {
    await this.check()
    if (this.#file !== undefined) this.#looking = setInterval(() => void this.check(), POLL_MS).unref()
  }

  end(): void {
    clearInterval(this.#looking)
  }

  /** Reads the file if it has changed. Never rejects. */
  check(): Promise<void> {
    this.#checking ??= this.#read().finally(() => {
      this.#checking = undefined
    })
    return this.#checking
  }

  async #read(): Promise<void> {
    if (this.#file === undefined) return
    try {
      const { size, mtimeNs, ctimeNs, ino } = await stat(this.#file, { bigint: true })
      const seen = `${size}:${mtimeNs}:${ctimeNs}:${ino}`
      if (seen === this.#seen) return
      this.#seen = seen
      this.#prices = await readPrices(await readFile(this.#file, 'utf8'))
      this.#error = undefined
    } catch (error) {
      this.#refuse(this.#file, error)
    }
  }

  #refuse(file: string, error: unknown): void {
    const cause = error instanceof GuardError ? withFileLocation(file, error) : `The price file ${file} cannot be read.`
    const message = this.#prices === undefined ? `${cause} ${NO_PRICES}` : cause
    const known =
      error instanceof GuardError
        ? new GuardError(error.entry, message, error.place)
        : new GuardError(replayErrors.INVALID_PRICING, message, { cause: error })
    const before = this.#error instanceof GuardError ? this.#error.message : undefined
    this.#error = known
    if (!(error instanceof GuardError) || error.status === 503) this.#seen = ''
    if (known.message !== before) this.#gateway.fault(known, 'replay:pricing')
  }

  /** Prices in force; undefined if no file could be read. */
  get prices(): Prices | undefined {
    return this.#prices
  }

  /** Senders tell costs in dollars; they add up with no other currency. */
  get #isInDollars(): boolean {
    return (this.#prices?.currency ?? DOLLARS) === DOLLARS
  }

  /** Current cost of usage; the first model with a price counts. */
  cost(models: readonly (string | null)[], usage: Usage, terms: Terms = {}): Cost {
    const price_version = this.#prices?.version ?? null
    for (const model of models) {
      const found = model === null ? undefined : this.#prices?.find(model)
      if (found === undefined) continue
      const { price, factors } = chargeOf(found.value, usage, { ...terms, region: found.region ?? terms.region })
      return { cost_micro: Number(costOf(price, usage, factors)), cost_source: 'priced', price_version }
    }
    return { cost_micro: 0, cost_source: 'unpriced', price_version }
  }

  /** Prices a settled call and adds the cost to its session. */
  settle(settled: Settled): void {
    const { call, reading, usage } = settled
    const { service_tier, inference_geo } = reading
    settled.cost = this.cost([reading.model, call.envelope.model], usage, { service_tier, region: inference_geo })
    const row = call.session?.row
    if (row !== undefined) row.cost_micro += settled.cost.cost_micro
  }

  /** Adds prices to the spans of a fragment that tell of usage; a price from the writer stays. If a span has only usage or model, the stored span supplies the other. */
  async price(fragment: Fragment): Promise<Fragment> {
    const olds = await storedSpansOf(fragment, this.#gateway)
    const spans = fragment.spans.map((span) => this.#span(span, olds.get(span.id)))
    return spans.every((span, index) => span === fragment.spans[index]) ? fragment : { ...fragment, spans }
  }

  #span(span: SpanDraft, old: SpanRow | undefined): SpanDraft {
    const attributes = mergedAttributes(old && unpriced(old.attributes), span.attributes)
    const usage = countsUsage(mergedKind(span, old, attributes)) ? usageOf(attributes) : undefined
    if (usage === undefined || countOf(attributes['guard.cost_micro']) !== null) return span
    const { cost_micro, cost_source, price_version } = this.cost(modelsOf(attributes), usage, termsOf(attributes))
    const reportedCost = cost_source === 'unpriced' && this.#isInDollars ? reportedCostOf(attributes) : null
    const priced = {
      'guard.cost_micro': reportedCost ?? cost_micro,
      'guard.cost_source': reportedCost === null ? cost_source : 'told',
      ...(price_version === null ? {} : { 'guard.price_version': price_version }),
    }
    return { ...span, attributes: { ...span.attributes, ...priced } }
  }

  health(): PricingHealth {
    const { version = null, currency = null, models = 0, as_of = null } = this.#prices ?? {}
    const age_days =
      as_of === null ? null : Math.max(0, Math.floor((this.#gateway.clock.now() - Date.parse(as_of)) / DAY_MS))
    const stale = age_days !== null && age_days > STALE_DAYS
    const about = { file: this.#file ?? null, version, currency, models, as_of, age_days, stale }
    if (this.#error === undefined) return { status: 'ok', ...about }
    const { code, message } = errorBody(this.#error)
    return { status: 'error', ...about, error: { code, message } }
  }
}
