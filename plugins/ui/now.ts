import type { Gateway, Mode } from 'guard-gateway/core'
import { durationText } from '#lib/format'
import { type Html, html } from '#lib/html'
import { type Ask, type Page, type Panel, panelKind } from '#lib/page'
import { DEFAULT_PROJECT } from '#lib/session'

const NS_PER_S = 1e9

const meanings: Readonly<Record<Mode, string>> = {
  shadow: 'what matches a rule is flagged and forwarded',
  enforce: 'what matches a blocking rule is refused',
}

/** Start page: the mode of projects without a policy of their own, and the panels of features. */
export const nowPage = (gateway: Gateway): Page => ({
  id: 'now',
  path: '/',
  nav: { label: 'Now', order: 0, key: 'n' },
  render: async (ask) => ({ title: 'Now', main: await mainOf(gateway, ask) }),
})

const mainOf = async (gateway: Gateway, ask: Ask): Promise<Html> => {
  const panels = [...gateway.registry(panelKind)].sort((one, other) => one.order - other.order)
  const sections = await Promise.all(panels.map((panel) => renderPanel(gateway, panel, ask)))
  const mode = (await gateway.service('rules').get()?.of(DEFAULT_PROJECT))?.mode
  return html`<div data-live="*" data-begins><div class="head"><h1>Now</h1>${mode !== undefined && html`<p><strong>${mode}</strong>: ${meanings[mode]}, in <a href="/policies">projects without a policy of their own</a></p>`}<p class="quiet">up for ${durationText(Math.floor(process.uptime()) * NS_PER_S)}</p></div>
${sections.map((part) => part !== undefined && html`<section>${part}</section>`)}</div>`
}

/** A panel that throws does not hide the others. */
const renderPanel = async (gateway: Gateway, panel: Panel, ask: Ask): Promise<Html | undefined> => {
  try {
    return await panel.render(ask)
  } catch (error) {
    gateway.fault(error, `panel:${panel.id}`)
    return undefined
  }
}
