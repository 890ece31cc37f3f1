import type { Gateway } from 'guard-gateway/core'
import { approverField } from '#lib/approver'
import { recoveryHint } from '#lib/errors'
import { costText, countText } from '#lib/format'
import { costUnit, type Html, html } from '#lib/html'
import { type Ask, formKind } from '#lib/page'
import { stateField } from '#lib/terminal'
import type { Trace, TreeSpan } from '#lib/trace'
import { type Why, whyOf } from '../../read/why.ts'
import { decisionClass } from '../decisions.ts'
import { runLink } from '../folding.ts'
import { middleEllipsis, numbered, rowId } from '../format.ts'
import { shapeOfTrace, spanTitle } from '../shape.ts'
import { failureHint, stepName } from './failure-hint.ts'

/** Why a run was flagged, blocked or failed, what came after that, and what to do; nothing for a run that went well. */
export const whyBox = async (gateway: Gateway, trace: Trace, ask: Ask): Promise<Html | undefined> => {
  // the script has it already
  if (ask.query.get('part') === 'details') return undefined
  const why = whyOf(trace)
  if (why === undefined) return undefined
  const link = stepLink(trace, ask.query)
  return html`<section id="why" class="why${why.decision === undefined ? ' failure' : ''}" aria-label="Why">${
    why.decision === undefined ? failed(trace, why, link) : await decided(gateway, trace, ask, why, link)
  }</section>`
}

const decided = async (gateway: Gateway, trace: Trace, ask: Ask, why: Why, link: StepLink): Promise<Html> => {
  const { decision, message, span } = why
  if (decision === undefined) return html``
  const title = decision.reason === '' ? decision.decision : decision.reason
  return html`<p><strong class="${decisionClass(decision.decision)}">${title}</strong> ${middleEllipsis(message ?? decision.decision, MAX_CHARS)}, first at ${link(span)}${equalLinks(why, link)}</p>
<p>${flaggedSentence(gateway, why)}</p>
<p>${ruleText(gateway, trace, why)}</p>
${await sessionButtons(gateway, trace, ask, decision.reason.startsWith('LOOP_'))}`
}

/** What a step says at most; its details have all of it. */
const MAX_CHARS = 400
const MAX_EQUAL = 8

const equalLinks = ({ match }: Why, link: StepLink): Html => {
  const equal = match?.equal ?? []
  if (equal.length === 0) return html``
  return html`; equal to ${equal.slice(0, MAX_EQUAL).map((span, at) => html`${at > 0 && ', '}${link(span, 'number')}`)}${equal.length > MAX_EQUAL && html` and ${equal.length - MAX_EQUAL} more`}`
}

/** The rule, with the way to it, and what helps. */
const ruleText = (gateway: Gateway, { run }: Trace, why: Why): Html => {
  const { decision, match } = why
  const detector = gateway.detectors.get(match?.rule_type ?? '')
  const hint = detector === undefined ? undefined : recoveryHint(detector)
  const rule = decision?.rule ?? ''
  if (rule === '') return html`${hint}`
  const name =
    decision?.reported === true || detector === undefined
      ? html`<code>${rule}</code>`
      : html`<a href="/policies/${encodeURIComponent(run.project_id)}#rule-${encodeURIComponent(rule)}">${rule}</a>`
  return html`Rule ${name}${limitText(detector?.unit, why)}. ${hint}`
}

const limitText = (unit: string | undefined, { match, decision }: Why): Html => {
  if (unit === undefined || match?.threshold === undefined) return html``
  const { threshold, window_size = 0, rule_type } = match
  return html` <span class="quiet">(${rule_type !== decision?.rule && `${rule_type}: `}${threshold} ${unit}${window_size > 0 && ` in ${window_size}`})</span>`
}

const failed = (trace: Trace, why: Why, link: StepLink): Html => {
  const { span, error, field } = why
  const tag = trace.run.failure_tag
  const message = error ?? (field === undefined ? `It ended with ${span.status}.` : `Its ${field} says so.`)
  return html`<p><strong class="error">${tag ?? span.status}</strong> ${link(span)}${stepName(span)}: <span class="text">${middleEllipsis(message, MAX_CHARS)}</span></p>
<p>${afterSentence(why, trace)}${failureHint(tag)} <a href="/replay/compare?right=${encodeURIComponent(trace.run.trace_id)}">Compare with a run that went well</a></p>`
}

/** A step of the run as a link that selects it; by its number alone among others of its name. */
type StepLink = (span: TreeSpan, text?: 'title' | 'number') => Html

const stepLink = (trace: Trace, query: URLSearchParams): StepLink => {
  const shape = shapeOfTrace(trace)
  return (span, text = 'title') => {
    const title = spanTitle(shape, span)
    const href = runLink(query, { span: span.id, view: null, after: null }, rowId(span.id))
    return html`<a class="step" href="${href}">${text === 'number' ? (/#\d+$/.exec(title)?.[0] ?? title) : numbered(title)}</a>`
  }
}

/** Buttons that stop the session of a run, or let it go on; nothing for a session that this gateway does not lead. */
const sessionButtons = async (gateway: Gateway, { run }: Trace, ask: Ask, isLoop: boolean): Promise<Html> => {
  const row = run.session_id === null ? undefined : await gateway.storage.get('sessions', run.session_id)
  if (row === undefined || gateway.registry(formKind).get('sessions/pause') === undefined) return html``
  const { approver } = gateway
  const path = `/ui/sessions/${encodeURIComponent(row.id)}`
  const back = html`<input type="hidden" name="return_to" value="${ask.url}">${stateField(row)}`
  const form = (act: string, button: Html) =>
    html`<form class="filters" method="post" action="${path}/${act}">${back}${act === 'resume' && approverField(approver, undefined)}${button}</form>`
  const session = html`<a href="/sessions/${encodeURIComponent(row.id)}">${row.paused ? 'Paused session' : 'Session'}</a>`
  return html`<div class="forms">${
    row.paused
      ? form('resume', html`<button class="main">Resume session</button>`)
      : html`${form('pause', html`<button class="grave">Pause session</button>`)}${isLoop && form('resume', html`<button>Reset loop rules</button>`)}`
  }<span class="beside">${session}</span></div>`
}

/** What came from a flagged request on, and what the rule would have saved or has. */
const flaggedSentence = (gateway: Gateway, why: Why): string =>
  why.decision?.decision === 'shadow_flag'
    ? `${fromHereOn(gateway, why)}${wouldHave(why)}`
    : `${stopped(why)}${blockedRest(why)}`

const fromHereOn = (gateway: Gateway, { after }: Why): string => {
  const { requests, all_requests, tokens, cost_micro, all_cost_micro } = after
  if (requests === 0) return 'No request came after it. '
  const parts = [
    `${countText(requests)} of ${countText(all_requests)} requests`,
    ...(all_cost_micro > 0n ? [`${costText(cost_micro)} of ${costText(all_cost_micro)} ${costUnit(gateway)}`] : []),
    ...(tokens > 0n ? [`${countText(tokens)} tokens`] : []),
  ]
  return `${listed(parts)} came from here on. `
}

/** `a`, `a and b`, `a, b and c`. */
const listed = (parts: readonly string[]): string =>
  parts.length < 2 ? (parts[0] ?? '') : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`

const refusing: ReadonlySet<string> = new Set(['block', 'pause'])

const wouldHave = ({ decision, match }: Why): string => {
  const action = match?.action ?? 'block'
  if (decision?.mode !== 'shadow') return 'It was flagged and forwarded.'
  return refusing.has(action) ? 'Enforced, it would have ended here.' : 'Its rule flags and does not block.'
}

const words = new Map([
  ['block', 'It was blocked: nothing was forwarded.'],
  ['deny', 'The call was denied.'],
  ['confirm', 'The call waited for a person.'],
  ['shadow_deny', 'Enforced, the call would have been denied.'],
])

const stopped = ({ decision }: Why): string => words.get(decision?.decision ?? '') ?? ''

const blockedRest = ({ retries, after, decision }: Why): string => {
  if (retries > 0) return ` ${countText(retries)} identical ${retries === 1 ? 'attempt' : 'attempts'} followed.`
  const more = after.requests - 1
  if (decision?.decision !== 'block' || more < 1) return ''
  return ` ${countText(more)} of ${countText(after.all_requests)} requests came after it.`
}

/** What came after a failed step. */
const afterSentence = ({ span }: Why, { spans }: Trace): string => {
  const end = span.end_ns ?? span.start_ns
  const later = spans.reduce((count, { start_ns, depth }) => count + (depth > 0 && start_ns >= end ? 1 : 0), 0)
  if (later === 0) return 'Nothing came after it. '
  return `${countText(later)} ${later === 1 ? 'step' : 'steps'} came after it. `
}
