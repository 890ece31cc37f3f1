import { type Html, html } from 'guard-gateway/lib/html'
import type { Period } from './period.ts'

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
const DAY = 86_400_000

const dayText = (at: number): string => {
  const date = new Date(at)
  return `${months[date.getUTCMonth()]} ${date.getUTCDate()}`
}

const clockText = (at: number): string => new Date(at).toISOString().slice(11, 16)

/** Bars of one day are told by the clock alone, which script shows in the reader's zone; those of more days by UTC dates. */
export const isClock = ({ since, until, step }: Period, now: number): boolean =>
  (step === 'minute' || step === 'hour') && until - since <= DAY && Math.abs(now - since) <= DAY + STEP_SLACK
const STEP_SLACK = DAY / 24

/** When a bar begins. */
export const barTime = (at: number, period: Period, now: number): Html => {
  if (isClock(period, now)) return html`<time datetime="${isoMinute(at)}" data-clock>${clockText(at)}</time>`
  return html`${dayText(at)}${period.step !== 'day' && ` ${clockText(at)}`}`
}

/** Labels of both ends of the axis. */
export const axisEnds = (period: Period, now: number): Html => {
  const { since, until, range, step_ms } = period
  const end = range !== undefined ? html`now` : barTime(until - (isClock(period, now) ? 0 : step_ms), period, now)
  return html`<p class="ends" aria-hidden="true"><span>${barTime(since, period, now)}</span><span>${end}</span></p>`
}

/** As short as a query of the list takes it: `2026-11-26T14:00Z`. */
export const isoMinute = (at: number): string => `${new Date(at).toISOString().slice(0, 16)}Z`
