import type { Gateway } from 'guard-gateway/core'
import { costHead, costUnit, countMark, type Html, html, instantMark, priceMark } from 'guard-gateway/lib/html'
import type { Ask, Panel } from 'guard-gateway/lib/page'
import { addUsage, emptyUsage, type LastResponse, type Traffic, type Usage } from './traffic.ts'

/** Spend of the last hour and today, and the state of upstreams. */
export const spendPanel = (gateway: Gateway, traffic: Traffic): Panel => ({
  id: 'recorder/spend',
  order: 15,
  render: async (ask) => {
    await traffic.update(gateway.storage, ask.now)
    const configured = configuredNames(gateway)
    const names = [...new Set([...(configured ?? []), ...traffic.names()])]
    // unconfigured upstreams, such as the Playground's, cost nothing; rejected requests have no upstream
    const upstreams = names.map((name) => ({
      name,
      counts: configured === undefined || name === '' || configured.includes(name),
    }))
    return upstreams.length === 0 ? undefined : spendTable(gateway, ask, traffic, upstreams)
  },
})

/** Upstream names of the health response; undefined if absent. */
const configuredNames = (gateway: Gateway): readonly string[] | undefined => {
  const upstreams: unknown = gateway.health.get('upstreams')?.()
  return Array.isArray(upstreams) ? upstreams.map((one) => String(Reflect.get(Object(one), 'name'))) : undefined
}

/** An upstream, and whether its requests count toward the totals. */
interface Upstream {
  readonly name: string
  readonly counts: boolean
}

const spendTable = (gateway: Gateway, ask: Ask, traffic: Traffic, upstreams: readonly Upstream[]): Html => {
  const unit = costUnit(gateway)
  const [hour, today] = [emptyUsage(), emptyUsage()]
  for (const { name, counts } of upstreams) {
    if (!counts) continue
    addUsage(hour, traffic.lastHour(name, ask.now))
    addUsage(today, traffic.today(name, ask.now))
  }
  return html`<h2>Spend and upstreams</h2>
<p>${traffic.partial && 'At least: '}Last hour: ${usageText(hour, unit)}. Today, UTC: ${usageText(today, unit)}.</p>
<table class="list rows stacks"><thead><tr><th scope="col" class="free">Upstream</th><th scope="col">State</th><th scope="col" class="figure">Requests in the last hour</th><th scope="col" class="figure">Requests today</th><th scope="col" class="figure">Failed today</th><th scope="col" class="figure">Tokens today</th><th scope="col" class="figure">${costHead(gateway, 'Cost today')}</th></tr></thead><tbody>
${upstreams.map((upstream) => upstreamRow(ask, upstream, traffic, unit))}</tbody></table>`
}

const usageText = ({ requests, blocked, flagged, tokens, cost_micro }: Usage, unit: string): Html => {
  if (requests === 0) return html`no request`
  return html`${countMark(requests)} request${requests !== 1 && 's'}${flagged > 0 && html`, ${countMark(flagged)} flagged`}${blocked > 0 && html`, ${countMark(blocked)} blocked`}, ${countMark(tokens)} tokens, <strong>${priceMark(cost_micro)}</strong> ${unit}`
}

const upstreamRow = ({ now }: Ask, { name, counts }: Upstream, traffic: Traffic, unit: string): Html => {
  const hour = traffic.lastHour(name, now)
  const today = traffic.today(name, now)
  return html`<tr id="upstream-${name}"><th scope="row">${name === '' ? html`<span class="quiet">no upstream</span>` : name}${!counts && html` <span class="quiet">not configured, not counted above</span>`}</th><td>${stateMark(traffic.last(name), now)}</td><td class="figure">${countMark(hour.requests)}<span class="unit"> in the last hour</span></td><td class="figure">${countMark(today.requests)}<span class="unit"> today</span></td><td class="figure">${today.failed > 0 ? html`<span class="error">${countMark(today.failed)}</span>` : 0}<span class="unit"> failed</span></td><td class="figure">${countMark(today.tokens)}<span class="unit"> tokens</span></td><td class="figure">${priceMark(today.cost_micro)}<span class="unit"> ${unit}</span></td></tr>
`
}

/** State by the last response. */
const stateMark = (last: LastResponse | undefined, now: number): Html => {
  if (last === undefined) return html`<span class="quiet">no requests today</span>`
  const [kind, words] =
    last.outcome === 'ok' ? ['ok', '✓ answers'] : ['error', last.outcome === 'unreachable' ? '✕ no answer' : '✕ errors']
  return html`<span class="${kind} status">${words}</span> <span class="quiet">${instantMark(last.at, now)}</span>`
}
