import { type Html, html } from 'guard-gateway/lib/html'

const MOST_PERCENT = 999

/** How much a figure is above or below that of the time before; nothing where that is none. `against` says what is compared. */
export const changeMark = (now: number, before: number, against: string): Html => {
  if (before <= 0) return html``
  const percent = Math.round((now / before - 1) * 100)
  if (percent === 0) return html` <span class="quiet" title="${against}">as before</span>`
  if (percent > MOST_PERCENT) return html` <span class="quiet" title="${against}">× ${Math.round(now / before)}</span>`
  return html` <span class="quiet" title="${against}"><span class="hidden-label">${percent > 0 ? 'up' : 'down'}</span><span aria-hidden="true">${percent > 0 ? '↑' : '↓'}</span> ${Math.abs(percent)} %</span>`
}
