import { spanKinds } from 'guard-gateway/core'
import { type Html, html, raw } from 'guard-gateway/lib/html'
import type { Ask } from 'guard-gateway/lib/page'
import { closeAll, openAll, runLink } from './folding.ts'
import { rowId } from './format.ts'
import type { Changes } from './links.ts'
import { neighbours } from './search.ts'
import { kindMark } from './timeline-row.ts'
import type { TimelineView } from './timeline-view.ts'
import { isFullRange, middleOf, zoomed } from './window.ts'

const KEPT = ['closed', 'open', 'unfolded', 'from', 'to', 'all']

/** Search, navigation, folding and zoom as links and one form, with keyboard shortcuts. */
export const timelineTools = (view: TimelineView, ask: Ask): Html => {
  const { query } = view
  return html`<div id="tools" class="tools">
<form action="${ask.url.replace(/[?#].*$/s, '')}" role="search" class="find">
<label><span class="hidden-label">Find spans</span><input type="search" name="find" value="${query.get('find') ?? ''}" placeholder="find spans"></label>
${KEPT.map((name) => query.has(name) && html`<input type="hidden" name="${name}" value="${query.get(name)}">`)}
${[...view.search.kinds].map((kind) => html`<input type="hidden" name="kind" value="${kind}">`)}
<button>Find</button>${found(view)}
</form>
<p class="kinds">${kindLinks(view)}</p>
<p class="zoom">${errorLink(view)}${foldLinks(view)}${zoomLinks(view)}</p>
</div>`
}

const key = (name: string) => html` data-key="${name}"`

const step = ({ query, trace }: TimelineView, place: number | undefined, label: string, name: string): Html => {
  const span = place === undefined ? undefined : trace.spans[place]
  if (span === undefined) return html``
  return html`<a href="${runLink(query, { span: span.id, after: null }, rowId(span.id))}"${key(name)} title="key ${name}">${label}</a> `
}

const found = (view: TimelineView): Html => {
  const { matches, selected, query } = view
  if (matches === undefined) return html``
  const { next, before, position } = neighbours(matches, selected)
  return html` <span class="found" role="status">${position > 0 ? `${position} of ${matches.size}` : matches.size === 1 ? '1 match' : `${matches.size} matches`}</span>
${step(view, before, '↑ previous', 'b')}${step(view, next, '↓ next', 'n')}<a href="${runLink(query, { find: null, kind: null })}">clear</a>`
}

/** Filter links for the kinds of the run; unselected ones are dimmed. */
const kindLinks = ({ trace, query, search }: TimelineView): readonly Html[] => {
  const present = spanKinds.filter((kind) => trace.spans.some((span) => span.kind === kind))
  if (present.length < 2) return []
  return present.map((kind) => {
    const chosen = search.kinds.has(kind)
    const wanted = chosen ? [...search.kinds].filter((one) => one !== kind) : [...search.kinds, kind]
    const bare = runLink(query, { kind: null })
    const href = [bare === '?' ? '' : bare.slice(1), ...wanted.map((one) => `kind=${one}`)]
      .filter((part) => part !== '')
      .join('&')
    return html`<a href="?${href}"${chosen ? raw` aria-current="true"` : ''}>${kindMark(kind)} ${kind}</a> `
  })
}

const errorLink = (view: TimelineView): Html => {
  const errors = view.trace.spans.flatMap(({ status, depth }, at) => (status === 'error' && depth > 0 ? [at] : []))
  return errors.length === 0
    ? html``
    : step(view, neighbours(errors, view.selected).next, `next error (${errors.length})`, 'e')
}

const foldLinks = ({ trace, query }: TimelineView): Html => {
  if (!trace.spans.some(({ depth }) => depth > 1)) return html``
  const link = (changes: Changes, name: string, label: string) =>
    html`<a href="${runLink(query, changes)}"${key(name)} title="key ${name}">${label}</a> `
  return html`${link(closeAll, '[', 'collapse')}${link(openAll, ']', 'expand')}`
}

const zoomLinks = ({ query, window, trace, selected }: TimelineView): Html => {
  const span = query.has('span') ? trace.spans[selected] : undefined
  const chosen = span && middleOf(window, span)
  const to = (closer: boolean): string => {
    const { from, to: end } = zoomed(window, closer, closer ? chosen : undefined)
    const whole = from === 0n && end === window.length_ns
    return runLink(query, {
      after: null,
      ...(whole ? { from: null, to: null } : { from: String(from), to: String(end) }),
    })
  }
  return html`<a href="${to(true)}"${key('+')} title="key +" aria-label="Zoom in">zoom +</a> ${
    !isFullRange(window) &&
    html`<a href="${to(false)}"${key('-')} title="key -" aria-label="Zoom out">−</a> <a href="${runLink(query, { from: null, to: null, after: null })}"${key('0')} title="key 0">whole run</a>`
  }`
}
