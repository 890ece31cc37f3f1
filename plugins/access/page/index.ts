import type { Gateway } from 'guard-gateway/core'
import { html } from 'guard-gateway/lib/html'
import { formKind, type Panel, pageKind, panelKind } from 'guard-gateway/lib/page'
import { currentPrincipal, hasScope } from 'guard-gateway/lib/principal'
import type { AccessKeys } from '../keys/access-keys.ts'
import { auditPage } from './audit.ts'
import { makeForm, revokeForm } from './key-forms.ts'
import { keysPage } from './keys.ts'

/** The pages of keys and of who did what, and where the first page leads to them. */
export const addPages = (gateway: Gateway, keys: AccessKeys): void => {
  gateway.registry(pageKind).add(keysPage(gateway))
  gateway.registry(pageKind).add(auditPage(gateway))
  gateway.registry(formKind).add(makeForm(gateway, keys))
  gateway.registry(formKind).add(revokeForm(gateway, keys))
  gateway.registry(panelKind).add(accessPanel(keys))
}

/** Nothing where there is no key, or for those who cannot open the pages. */
const accessPanel = (keys: AccessKeys): Panel => ({
  id: 'access',
  order: 70,
  render: async () => {
    const principal = currentPrincipal()
    if (keys.size === 0 || (principal !== undefined && !hasScope(principal, 'admin'))) return undefined
    return html`<h2>Access</h2>
<p><a href="/keys">Keys</a> · <a href="/audit">Who did what</a></p>`
  },
})
