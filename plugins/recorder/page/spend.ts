import type { Gateway } from 'guard-gateway/core'
import { costHead, costUnit, countMark, type Html, html, instantMark, priceMark } from 'guard-gateway/lib/html'
import type { Ask, Panel } from 'guard-gateway/lib/page'
import { addSums, type LastAnswer, noSums, type Sums, type Traffic } from './traffic.ts'

/** What was spent in the last hour and today, and how the upstreams answer. */
export const spendPanel = (gateway: Gateway, traffic: Traffic): Panel => ({
  id: 'recorder/spend',
  order: 15,
  render: async (ask) => {
    await traffic.look(gateway.storage, ask.now)
    const own = configured(gateway)
    const names = [...new Set([...(own ?? []), ...traffic.names()])]
    // what no upstream of the configuration answers, as the Playground's requests, nobody pays for; what was refused has no upstream
    const upstreams = names.map((name) => ({ name, counts: own === undefined || name === '' || own.includes(name) }))
    return upstreams.length === 0 ? undefined : spendTable(gateway, ask, traffic, upstreams)
  },
})

/** Names of upstreams, as the section of that name in the health answer gives them; undefined where there is none. */
const configured = (gateway: Gateway): readonly string[] | undefined => {
  const told: unknown = gateway.health.get('upstreams')?.()
  return Array.isArray(told) ? told.map((one) => String(Reflect.get(Object(one), 'name'))) : undefined
}

/** An upstream by its name, and whether the sums are also of its requests. */
interface Upstream {
  readonly name: string
  readonly counts: boolean
}

const spendTable = (gateway: Gateway, ask: Ask, traffic: Traffic, upstreams: readonly Upstream[]): Html => {
  const unit = costUnit(gateway)
  const [hour, today] = [noSums(), noSums()]
  for (const { name, counts } of upstreams) {
    if (!counts) continue
    addSums(hour, traffic.lastHour(name, ask.now))
    addSums(today, traffic.today(name, ask.now))
  }
  return html`<h2>Spend and upstreams</h2>
<p>${traffic.partial && 'At least: '}Last hour: ${sumsText(hour, unit)}. Today, UTC: ${sumsText(today, unit)}.</p>
<table class="list rows stacks"><thead><tr><th scope="col" class="free">Upstream</th><th scope="col">State</th><th scope="col" class="figure">Requests in the last hour</th><th scope="col" class="figure">Requests today</th><th scope="col" class="figure">Failed today</th><th scope="col" class="figure">Tokens today</th><th scope="col" class="figure">${costHead(gateway, 'Cost today')}</th></tr></thead><tbody>
${upstreams.map((upstream) => upstreamRow(ask, upstream, traffic, unit))}</tbody></table>`
}

const sumsText = ({ requests, blocked, flagged, tokens, cost_micro }: Sums, unit: string): Html => {
  if (requests === 0) return html`no request`
  return html`${countMark(requests)} request${requests !== 1 && 's'}${flagged > 0 && html`, ${countMark(flagged)} flagged`}${blocked > 0 && html`, ${countMark(blocked)} blocked`}, ${countMark(tokens)} tokens, <strong>${priceMark(cost_micro)}</strong> ${unit}`
}

const upstreamRow = ({ now }: Ask, { name, counts }: Upstream, traffic: Traffic, unit: string): Html => {
  const hour = traffic.lastHour(name, now)
  const today = traffic.today(name, now)
  return html`<tr id="upstream-${name}"><th scope="row">${name === '' ? html`<span class="quiet">none chosen</span>` : name}${!counts && html` <span class="quiet">not configured, not counted above</span>`}</th><td>${stateMark(traffic.last(name), now)}</td><td class="figure">${countMark(hour.requests)}<span class="unit"> in the last hour</span></td><td class="figure">${countMark(today.requests)}<span class="unit"> today</span></td><td class="figure">${today.failed > 0 ? html`<span class="error">${countMark(today.failed)}</span>` : 0}<span class="unit"> failed</span></td><td class="figure">${countMark(today.tokens)}<span class="unit"> tokens</span></td><td class="figure">${priceMark(today.cost_micro)}<span class="unit"> ${unit}</span></td></tr>
`
}

/** How an upstream answered last. */
const stateMark = (last: LastAnswer | undefined, now: number): Html => {
  if (last === undefined) return html`<span class="quiet">not asked today</span>`
  const [kind, words] =
    last.outcome === 'ok' ? ['ok', '✓ answers'] : ['error', last.outcome === 'unreachable' ? '✕ no answer' : '✕ errors']
  return html`<span class="${kind} status">${words}</span> <span class="quiet">${instantMark(last.at, now)}</span>`
}
