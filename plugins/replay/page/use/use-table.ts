import type { Gateway } from 'guard-gateway/core'
import { costHead, costUnit, type Html, html } from '#lib/html'
import { percentile, type Use, type UseTable } from '../../read/use.ts'
import { byWorth } from '../../read/use-rows.ts'
import { costMark, countMark, durationMark, middleEllipsis } from '../format.ts'

const MAX_ROWS = 20
const NAME_CHARS = 60

const groups = [
  ['model', 'Model'],
  ['tool', 'Tool'],
  ['command', 'Command'],
] as const

/** Calls by model, tool and command: errors, durations, tokens and cost; undefined without calls. */
export const useTable = (gateway: Gateway, uses: UseTable): Html | undefined => {
  if (uses.size === 0) return undefined
  const all = [...uses.values()]
  return html`<table class="list uses stacks"><thead><tr><th scope="col" class="free">Model, tool or command</th><th scope="col" class="figure">Calls</th><th scope="col" class="figure">Errors</th><th scope="col" class="figure"><abbr title="half of the calls took no longer">p50</abbr></th><th scope="col" class="figure"><abbr title="95 % of the calls took no longer">p95</abbr></th><th scope="col" class="figure">Tokens</th><th scope="col" class="figure">${costHead(gateway)}</th></tr></thead>
${groups.map(([kind, title]) =>
  groupOf(
    title,
    all.filter((use) => use.kind === kind),
    costUnit(gateway),
  ),
)}</table>`
}

const groupOf = (title: string, uses: readonly Use[], unit: string): Html => {
  if (uses.length === 0) return html``
  const listed = uses.toSorted(byWorth).slice(0, MAX_ROWS)
  const rest = uses.length - listed.length
  return html`<tbody><tr class="group"><th scope="rowgroup" colspan="7">${title}</th></tr>
${listed.map((use) => useRow(use, unit))}${rest > 0 && html`<tr><td colspan="7" class="quiet">and ${rest} more</td></tr>`}</tbody>`
}

const useRow = (
  { kind, name, calls, errors, durations_ns, tokens, cached_tokens, cost_micro }: Use,
  unit: string,
): Html => {
  const sorted = durations_ns.toSorted((one, other) => one - other)
  const isModel = kind === 'model'
  return html`<tr data-row><th scope="row"${name !== null && name.length > NAME_CHARS && html` title="${name}"`}>${name === null ? html`<span class="quiet">unnamed</span>` : html`<bdi>${middleEllipsis(name, NAME_CHARS)}</bdi>`}</th><td class="figure">${countMark(calls)}<span class="unit"> ${calls === 1 ? 'call' : 'calls'}</span></td><td class="figure">${errors === 0 ? html`<span class="quiet">0</span>` : html`<span class="error">✕ ${countMark(errors)}</span>`}<span class="unit"> ${errors === 1 ? 'error' : 'errors'}</span></td><td class="figure">${tookMark(sorted, 0.5)}<span class="unit"> p50</span></td><td class="figure">${tookMark(sorted, 0.95)}<span class="unit"> p95</span></td><td class="figure">${isModel && html`${countMark(tokens)}${cached_tokens > 0 && html` <span class="quiet">(${countMark(cached_tokens)} cached)</span>`}<span class="unit"> tokens</span>`}</td><td class="figure">${isModel && html`${costMark(BigInt(cost_micro))}<span class="unit"> ${unit}</span>`}</td></tr>
`
}

const tookMark = (sorted: readonly number[], share: number): Html => {
  const value = percentile(sorted, share)
  return value === undefined
    ? html`<span class="quiet" title="The gateway sees neither start nor end of these calls.">–</span>`
    : durationMark(BigInt(Math.round(value)))
}
