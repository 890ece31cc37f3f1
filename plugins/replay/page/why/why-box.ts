import type { Gateway } from 'guard-gateway/core'
import { recoveryHint } from 'guard-gateway/lib/errors'
import { type Html, html } from 'guard-gateway/lib/html'
import type { Ask } from 'guard-gateway/lib/page'
import type { Trace } from 'guard-gateway/lib/trace'
import { type Why, whyOf } from '../../read/why.ts'
import { decisionClass } from '../decisions.ts'
import { middleEllipsis } from '../format.ts'
import { failureHint, stepName } from './failure-hint.ts'
import { afterSentence, flaggedSentence } from './sentences.ts'
import { sessionButtons } from './session-buttons.ts'
import { type StepLink, stepLink } from './step-link.ts'

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
  const said = error ?? (field === undefined ? `It ended with ${span.status}.` : `Its ${field} says so.`)
  return html`<p><strong class="error">${tag ?? span.status}</strong> ${link(span)}${stepName(span)}: <span class="text">${middleEllipsis(said, MAX_CHARS)}</span></p>
<p>${afterSentence(why, trace)}${failureHint(tag)} <a href="/replay/compare?right=${encodeURIComponent(trace.run.trace_id)}">Compare with a run that went well</a></p>`
}
