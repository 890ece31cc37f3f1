import type { Gateway, Outcome, Reader } from 'guard-gateway/core'
import { costHead, costUnit, countMark, type Html, html, instantMark, priceMark } from '#lib/html'
import type { Ask, Panel } from '#lib/page'
import { everyProject } from '#lib/principal'
import { type CallRecord, type FigureSums, type Figures, isPlayground } from '#lib/trace'
import { HOUR_MS } from '../figures/hours.ts'
import { failures } from '../figures/measures.ts'

const DAY_MS = 24 * HOUR_MS
const NONE = { requests: 0, flagged: 0, blocked: 0, errors: 0, total_tokens: 0, cost_micro: 0 } as const
type Used = Pick<FigureSums, keyof typeof NONE>

/** Spend of this hour and today, from the sums by hour, and the state of upstreams. */
export const spendPanel = (gateway: Gateway, figures: Figures): Panel => {
  const answers = new LastAnswers()
  return {
    id: 'recorder/spend',
    order: 16,
    render: async (ask) => {
      const [today, hour] = await Promise.all([
        usedBy(figures, ask.now - (ask.now % DAY_MS), ask.now),
        usedBy(figures, ask.now - (ask.now % HOUR_MS), ask.now),
        answers.look(gateway.storage),
      ])
      const names = [...new Set([...configuredNames(gateway), ...today.byUpstream.keys()])]
      if (names.length === 0) return undefined
      const unit = costUnit(gateway)
      return html`<h2>Spend and upstreams</h2>
<p>${today.complete ? '' : 'At least: '}This hour: ${usageText(hour.totals, unit)}. Today, UTC: ${usageText(today.totals, unit)}.</p>
<table class="list rows stacks"><thead><tr><th scope="col" class="free">Upstream</th><th scope="col">State</th><th scope="col" class="figure">Requests this hour</th><th scope="col" class="figure">Requests today</th><th scope="col" class="figure">Failed today</th><th scope="col" class="figure">Tokens today</th><th scope="col" class="figure">${costHead(gateway, 'Cost today')}</th></tr></thead><tbody>
${names.map((name) => upstreamRow(ask, name, hour.byUpstream.get(name) ?? NONE, today.byUpstream.get(name) ?? NONE, answers.of(name), unit))}</tbody></table>`
    },
  }
}

/** What calls since then came to, without those of the Playground, by their upstream; the empty name: none. */
const usedBy = async (figures: Figures, since: number, now: number) => {
  const query = { since, until: now + 1, step: 'hour', group: 'upstream', playground: false } as const
  const { totals, series, complete } = await figures.read(query)
  return { totals, complete, byUpstream: new Map<string, Used>(series.map((one) => [one.group ?? '', one.totals])) }
}

/** Names of the configured upstreams. */
const configuredNames = (gateway: Gateway): readonly string[] => {
  const upstreams: unknown = gateway.health.get('upstreams')?.()
  return Array.isArray(upstreams) ? upstreams.map((one) => String(Reflect.get(Object(one), 'name'))) : []
}

const usageText = ({ requests, blocked, flagged, total_tokens, cost_micro }: Used, unit: string): Html => {
  if (requests === 0) return html`no request`
  return html`${countMark(requests)} request${requests !== 1 && 's'}${flagged > 0 && html`, ${countMark(flagged)} flagged`}${blocked > 0 && html`, ${countMark(blocked)} blocked`}, ${countMark(total_tokens)} tokens, <strong>${priceMark(cost_micro)}</strong> ${unit}`
}

const upstreamRow = (
  { now }: Ask,
  name: string,
  hour: Used,
  today: Used,
  answer: LastAnswer | undefined,
  unit: string,
): Html =>
  html`<tr id="upstream-${name}"><th scope="row">${name === '' ? html`<span class="quiet">no upstream</span>` : name}</th><td>${stateMark(answer, now)}</td><td class="figure">${countMark(hour.requests)}<span class="unit"> this hour</span></td><td class="figure">${countMark(today.requests)}<span class="unit"> today</span></td><td class="figure">${today.errors > 0 ? html`<span class="error">${countMark(today.errors)}</span>` : 0}<span class="unit"> failed</span></td><td class="figure">${countMark(today.total_tokens)}<span class="unit"> tokens</span></td><td class="figure">${priceMark(today.cost_micro)}<span class="unit"> ${unit}</span></td></tr>
`

/** State by the last answer. */
const stateMark = (last: LastAnswer | undefined, now: number): Html => {
  if (last === undefined) return html`<span class="quiet">not asked lately</span>`
  const [kind, words] =
    last.outcome === 'ok' ? ['ok', '✓ answers'] : ['error', last.outcome === 'unreachable' ? '✕ no answer' : '✕ errors']
  return html`<span class="${kind} status">${words}</span> <span class="quiet">${instantMark(last.at, now)}</span>`
}

/** Calls that a look reads, the newest first: of those recorded since the look before, and at the first look. */
const MAX_READ = 100

/** Outcome and time of an upstream's newest answer, in milliseconds since 1970. */
interface LastAnswer {
  readonly outcome: Outcome
  readonly at: number
}

/** The newest answer of each upstream, by its name, among the calls that were the newest at each look. */
class LastAnswers {
  readonly #answers = new Map<string, LastAnswer>()
  #newest: string | undefined

  /** Reads what was recorded since the last look, at most the newest hundred calls. */
  async look(storage: Reader): Promise<void> {
    const { rows } = await everyProject(() => storage.find('calls', { limit: MAX_READ }))
    const known = rows.findIndex(({ id }) => id === this.#newest)
    for (const call of known === -1 ? rows : rows.slice(0, known)) this.#add(call)
    this.#newest = rows[0]?.id ?? this.#newest
  }

  of(upstream: string): LastAnswer | undefined {
    return this.#answers.get(upstream)
  }

  #add(call: CallRecord): void {
    const { upstream, outcome, ended_at, attempts } = call
    // clients that left and refused requests say nothing of an upstream
    const isAnswer = attempts > 0 && (outcome === 'ok' || failures.has(outcome))
    if (upstream === null || !isAnswer || isPlayground(call)) return
    if (ended_at >= (this.#answers.get(upstream)?.at ?? 0)) this.#answers.set(upstream, { outcome, at: ended_at })
  }
}
