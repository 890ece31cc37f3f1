import { failureTags } from 'guard-gateway/core'
import { choice, type Html, html, raw, suggestedValues } from 'guard-gateway/lib/html'
import { type Ask, CHART_PARAMETERS } from 'guard-gateway/lib/page'
import { statuses } from '../api/filters.ts'
import { FROM_START, linked } from './links.ts'

const ages = [
  ['', 'any time'],
  ['15m', '15 minutes'],
  ['1h', '1 hour'],
  ['today', 'today'],
  ['24h', '24 hours'],
  ['yesterday', 'yesterday and today'],
  ['7d', '7 days'],
  ['30d', '30 days'],
] as const

/** Parameters without a field, which the form retains. */
const KEPT = [
  'session_id',
  'agent_id',
  'agent_name',
  'task_id',
  'origin',
  'tool',
  'pinned',
  'sort',
  'order',
  'until',
  'min_duration_ms',
  'max_duration_ms',
  'min_cost_micro',
  'min_tokens',
  'noise',
  'limit',
  ...CHART_PARAMETERS.filter((name) => name !== 'playground'),
]

/** What the fields of the form suggest. */
export interface FilterNames {
  readonly agents: readonly string[]
  readonly projects: readonly string[]
  readonly models: readonly string[]
}

/** Search form of the list. `fault`: the invalid parameter. */
export const filterForm = ({ query }: Ask, fault: string | undefined, names: FilterNames): Html => {
  const value = (name: string): string => query.get(name) ?? ''
  const each = (name: string): readonly string[] => {
    const given = query.getAll(name).filter((one) => one !== '')
    return given.length === 0 ? [''] : given
  }
  const wrong = (name: string) => (fault === name ? raw` aria-invalid="true" aria-describedby="fault"` : '')
  return html`<form class="filters" action="/replay" role="search">
<label class="wide">Search<input type="search" name="q" value="${value('q')}"${wrong('q')} placeholder="words of names, tools, attributes"></label>
<label>Agent<input name="agent" list="agents" value="${value('agent')}" size="12" placeholder="all"></label>
<label>Project<input name="project_id" list="projects" value="${value('project_id')}" size="12" placeholder="all"></label>
<label>Status${choice('status', value('status'), [['', 'any'], ...statuses.map((word) => [word, word] as const)])}</label>
<label>Failure${choice('failure_tag', value('failure_tag'), [
    ['', 'any or none'],
    ['any', 'any'],
    ['none', 'none'],
    ...failureTags.map((tag) => [tag, tag] as const),
  ])}</label>
${each('tag').map((tag) => html`<label>Tag<input name="tag" value="${tag}" size="10"></label>`)}
${each('model').map((model) => html`<label>Model<input name="model" list="models" value="${model}" size="14"></label>`)}
${each('attribute').map((text) => html`<label>Attribute<input name="attribute" value="${text}" size="24"${wrong('attribute')} placeholder="http.status>=500"></label>`)}
<label>Since${choice('since', value('since'), ages)}</label>
<label>Playground${choice('playground', value('playground'), [
    [value('playground') === 'show' ? 'show' : '', 'shown'],
    ['false', 'left out'],
    ['true', 'alone'],
  ])}</label>
${KEPT.flatMap((name) => query.getAll(name).map((kept) => kept !== '' && html`<input type="hidden" name="${name}" value="${kept}">`))}
${suggestedValues('agents', names.agents)}${suggestedValues('projects', names.projects)}${suggestedValues('models', names.models)}<button>Search</button>
${isNarrowed(query) && html`<a class="clear" href="/replay">Clear</a>`}
</form>`
}

const NO_FILTERS = ['notice', 'back', 'cursor', 'sort', 'order', 'limit', 'noise', ...CHART_PARAMETERS]

/** Whether the list is filtered. */
export const isNarrowed = (query: URLSearchParams): boolean =>
  [...query].some(
    ([name, value]) => value !== '' && (!NO_FILTERS.includes(name) || (name === 'playground' && value !== 'show')),
  )

const chips = [
  ['All', {}],
  ['Errors', { status: 'error' }],
  ['Loops', { failure_tag: 'loop' }],
  ['Blocked', { failure_tag: 'policy_block' }],
  ['Pinned', { pinned: 'true' }],
  ['Running', { status: 'running' }],
] as const satisfies readonly (readonly [string, Readonly<Record<string, string>>])[]

const OFF = { ...FROM_START, status: null, failure_tag: null, pinned: null }

/** Links of frequent filters. */
export const filterChips = ({ query }: Ask): Html => {
  const isChosen = (wanted: Readonly<Record<string, string>>) =>
    ['status', 'failure_tag', 'pinned'].every((name) => (query.get(name) ?? '') === (wanted[name] ?? ''))
  return html`<nav class="chips" aria-label="Views">${chips.map(
    ([label, wanted]) =>
      html`<a href="${linked('/replay', query, { ...OFF, ...wanted })}"${isChosen(wanted) ? raw` aria-current="true"` : ''}>${label}</a>`,
  )}</nav>`
}
