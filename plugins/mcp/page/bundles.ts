import { type Html, html } from 'guard-gateway/lib/html'
import type { BundleView } from '../management/bundle-schemas.ts'
import type { ServersView } from '../management/server-schemas.ts'

/** Several servers behind one address: which, under which names, and what keeps something from being served. */
export const bundlesSection = ({ bundles }: ServersView): Html => {
  if (bundles.length === 0) return html``
  return html`<h2 id="bundles">Several servers at one address</h2>
<table class="list rows"><thead><tr><th scope="col">Address</th><th scope="col" class="free">Servers</th><th scope="col">Open sessions</th></tr></thead><tbody>${bundles.map(
    (bundle) =>
      html`<tr id="bundle-${bundle.id}"><th scope="row"><code>${bundle.path}</code></th><td><p>${serverList(bundle)}</p>${collisionList(bundle)}</td><td>${bundle.sessions}</td></tr>
`,
  )}</tbody></table>`
}

const serverList = ({ servers }: BundleView): Html =>
  html`${servers.map(
    ({ id, prefix, reason }, at) =>
      html`${at > 0 && ', '}<a href="#server-${id}">${id}</a>${prefix !== '' && html` <span class="quiet">${prefix}…</span>`}${reason !== null && html` <span class="error">${reason}</span>`}`,
  )}`

const collisionList = ({ collisions }: BundleView): Html =>
  collisions.length === 0
    ? html``
    : html`<ul class="findings">${collisions.map(({ text }) => html`<li class="warning"><span aria-hidden="true">⚠</span> ${text}</li>`)}</ul>`
