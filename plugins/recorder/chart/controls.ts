import { countMark, type Html, html, instantMark, raw } from 'guard-gateway/lib/html'
import type { ChartOptions } from 'guard-gateway/lib/page'
import type { Addresses } from './addresses.ts'
import { DEFAULT_GROUP, type Group, groupNames, type Layer, nameMark } from './layers.ts'
import { DEFAULT_RANGE, type Period, type Range, rangeLabel, rangeNames } from './period.ts'

const chip = (href: string, label: string, isChosen: boolean): Html =>
  html`<a href="${href}"${isChosen ? raw` aria-current="true"` : ''}>${label}</a>`

/** The time of the charts in words. */
export const titleOf = ({ title, since, until, isCut }: Period, now: number): Html =>
  title === undefined
    ? html`${instantMark(since, now)} to ${instantMark(until, now)}${isCut && ', the last 31 days'}`
    : html`${title}`

/** Links that choose another time, and what it is grouped by. */
export const chips = (
  { range }: Period,
  group: Group,
  { here }: Addresses,
  { isList = false, agent_id, project_id }: ChartOptions,
): Html => {
  const choose = (one: Range): string =>
    here(isList ? { range: null, since: one, until: null } : { range: one === DEFAULT_RANGE ? null : one })
  const [isOneAgent, isOneProject] = [agent_id !== undefined, project_id !== undefined]
  const offered = groupNames.filter(
    (one) => one === group || !((one === 'agent' && isOneAgent) || (one === 'project' && isOneProject)),
  )
  return html`<nav class="chips" aria-label="Time of the charts">${rangeNames.map((one) => chip(choose(one), rangeLabel(one), one === range))}</nav>
<nav class="chips" aria-label="Groups of the charts"><span>by</span>${offered.map((one) => chip(here({ group: one === DEFAULT_GROUP ? null : one }), one, one === group))}</nav>`
}

/** Colours in words, the lowest of a stack first. */
export const legend = (layers: readonly Layer[]): Html =>
  layers.length === 0
    ? html``
    : html`<ul class="legend">${layers.map(
        (layer) =>
          html`<li class="key ${layer.tone}">${nameMark(layer)} <span class="quiet">${countMark(layer.requests)}</span></li>`,
      )}</ul>`

/** Whether calls of the Playground count, and the way to the other choice. */
export const playgroundLink = (isShown: boolean, { here }: Addresses): Html =>
  isShown
    ? html`with the Playground, <a href="${here({ playground: null })}">leave it out</a>`
    : html`without the Playground, <a href="${here({ playground: 'show' })}">show</a>`
