import type { Gateway } from 'guard-gateway/core'
import { type Html, html, instantMark } from '#lib/html'
import { type Ask, type Form, formKind, type Page, type Panel, pageKind, panelKind } from '#lib/page'
import type { ReceiverHealth } from '../delivery.ts'
import type { Notify, TimedNotice } from '../notify.ts'

/** The page of receivers, its form, and what the first page says of them. */
export const addPages = (gateway: Gateway, notify: Notify): void => {
  gateway.registry(pageKind).add(notifyPage(notify))
  gateway.registry(formKind).add(testForm(notify))
  gateway.registry(panelKind).add(notifyPanel(notify))
}

/** How many receivers there are, and whether messages are lost; nothing where there is none. */
const notifyPanel = (notify: Notify): Panel => ({
  id: 'notify',
  order: 60,
  render: async () => {
    const { receivers, status } = notify.health()
    if (receivers.length === 0) return undefined
    const sum = (name: 'delivered' | 'dropped' | 'failed') => receivers.reduce((total, one) => total + one[name], 0)
    const lost = sum('dropped') + sum('failed')
    return html`<h2>Notifications</h2>
<p><a href="/notify">${receivers.length} ${receivers.length === 1 ? 'receiver' : 'receivers'}</a>, ${sum('delivered')} delivered${lost > 0 && html`, <strong>${lost} lost</strong>`}${status === 'failing' && html`, <strong>failing</strong>`}.</p>`
  },
})

/** The form that tries one receiver, or each. */
const testForm = (notify: Notify): Form => ({
  id: 'notify/test',
  path: '/ui/notify/test',
  page: '/notify',
  notices: {
    'notify-delivered': 'The test was delivered.',
    'notify-failed': 'The test was not delivered.',
  },
  submit: async ({ fields }) => {
    const results = await notify.test(fields.get('receiver') || undefined)
    const failed = results.filter(({ outcome }) => outcome !== 'delivered')
    if (failed.length === 0) return { notice: 'notify-delivered' }
    return { faults: failed.map(({ receiver, error }) => ({ field: '', message: `"${receiver}": ${error}` })) }
  },
})

/** Receivers, what became of messages to them, and what was told of lately. */
const notifyPage = (notify: Notify): Page => ({
  id: 'notify',
  path: '/notify',
  render: async (ask) => {
    const receivers = [...notify.deliveries.values()].map((delivery) => delivery.health())
    const { held, overrun } = notify.health()
    return {
      title: 'Notifications',
      main: html`<div data-live="*"><h1>Notifications</h1>
<section><h2>Receivers</h2>${receivers.length === 0 ? none : table(receivers, ask)}
${held > 0 && html`<p class="quiet">${held} more are held back, and will be told together.</p>`}
${overrun > 0 && html`<p class="quiet">${overrun} came too fast to be told of.</p>`}</section>
<section><h2>Latest</h2>${notify.latest.length === 0 ? html`<p class="quiet">Nothing has happened yet.</p>` : latest(notify.latest, ask)}</section></div>`,
    }
  },
})

const none = html`<p class="quiet">None: name some under <code>notify.receivers</code> in the configuration.</p>`

const table = (receivers: readonly ReceiverHealth[], { now, url }: Ask): Html =>
  html`<div class="scroll"><table><thead><tr><th>receiver</th><th>by</th><th>at</th><th class="n">delivered</th><th class="n">waiting</th><th class="n">dropped</th><th class="n">refused</th><th>last</th><th></th></tr></thead>
<tbody>${receivers.map((receiver) => row(receiver, now, url))}</tbody></table></div>
<form method="post" action="/ui/notify/test"><input type="hidden" name="return_to" value="${url}"><button>Send a test to each</button></form>`

const row = (receiver: ReceiverHealth, now: number, url: string): Html => {
  const { name, notifier, target, status, delivered, queued, dropped, failed, last_delivered_at, last_error } = receiver
  return html`<tr id="receiver-${name}"><td>${name}</td><td>${notifier}</td><td>${target}</td><td class="n">${delivered}</td><td class="n">${queued}</td><td class="n">${dropped}</td><td class="n">${failed}</td>
<td>${status === 'failing' && last_error !== null ? html`<strong>failing</strong>: ${last_error.message}` : last_delivered_at !== null && instantMark(Date.parse(last_delivered_at), now)}</td>
<td><form method="post" action="/ui/notify/test"><input type="hidden" name="return_to" value="${url}"><input type="hidden" name="receiver" value="${name}"><button aria-label="Test ${name}">Test</button></form></td></tr>`
}

const latest = (notices: readonly TimedNotice[], { now }: Ask): Html =>
  html`<div class="scroll"><table><thead><tr><th>when</th><th>what</th><th></th></tr></thead><tbody>${notices.map(
    ({ at, event, text, path }) =>
      html`<tr><td>${instantMark(at, now)}</td><td>${event.replaceAll('_', ' ')}</td><td><a href="${path}">${text}</a></td></tr>`,
  )}</tbody></table></div>`
