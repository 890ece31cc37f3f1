import { html } from 'guard-gateway/lib/html'
import type { Panel } from 'guard-gateway/lib/page'
import type { Notify } from '../notify.ts'

/** How many receivers there are, and whether messages are lost; nothing where there is none. */
export const notifyPanel = (notify: Notify): Panel => ({
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
