import type { Gateway } from 'guard-gateway/core'
import { approverField } from '#lib/approver'
import { faultList, type Html, html, instantMark } from '#lib/html'
import { type Ask, type Form, formKind, type Page, type Panel, pageKind, panelKind, type View } from '#lib/page'
import { currentPrincipal, hasScope, type Scope, scopes } from '#lib/principal'
import type { AccessKeys, MadeKey } from '../keys/access-keys.ts'
import { createKey, revokeKey } from '../keys/changes.ts'
import { liveKeys, needKey } from '../keys/key-list.ts'
import { keyRequest } from '../keys/key-request.ts'
import type { AccessKeyRow } from '../keys/tables.ts'
import { auditPage } from './audit.ts'

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

/** The form that makes a key, which is shown this once. */
const makeForm = (gateway: Gateway, keys: AccessKeys): Form => ({
  id: 'access/keys',
  path: '/ui/keys',
  page: '/keys',
  notices: {},
  submit: async ({ fields, now }) => {
    const wrong = gateway.approver.faultIn(fields)
    if (wrong !== undefined) return { faults: [wrong] }
    const projects = listOf(fields.get('projects'))
    const request = keyRequest(
      {
        name: fields.get('name') ?? '',
        scopes: fields.getAll('scopes'),
        projects: projects.length === 0 ? undefined : projects,
        expires_in: fields.get('expires_in')?.trim() || undefined,
      },
      now,
      gateway.redact,
    )
    return { view: madeView(await createKey(gateway, keys, request)) }
  },
})

/** The form that ends a key. */
const revokeForm = (gateway: Gateway, keys: AccessKeys): Form => ({
  id: 'access/revoke',
  path: '/ui/keys/:id/revoke',
  page: '/keys',
  notices: { 'key-revoked': 'Revoked. Nothing passes with this key any more, and its logins have ended.' },
  submit: async ({ params }) => {
    await revokeKey(gateway, keys, await needKey(gateway, params.id ?? ''))
    return { notice: 'key-revoked' }
  },
})

const madeView = ({ key, row }: MadeKey): View => ({
  title: 'Key made',
  main: html`<h1>The key of <bdi>${row.name}</bdi></h1>
<p class="notice" role="status">It is shown this once and kept nowhere. Copy it now.</p>
<p><code class="secret">${key}</code></p>
<dl class="facts"><dt>For</dt><dd>${row.scopes.join(', ')}</dd><dt>Projects</dt><dd>${row.projects?.join(', ') ?? 'all'}</dd>${row.expires_at !== null && html`<dt>Ends</dt><dd>${new Date(row.expires_at).toISOString()}</dd>`}</dl>
<p>Programs send it as <code>Authorization: Bearer …</code>, commands take it from <code>GUARD_ACCESS_KEY</code>, and browsers log in with it at <code>/login</code>. <a href="/keys">All keys</a></p>`,
})

const listOf = (text: string | null): readonly string[] =>
  (text ?? '')
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')

const meanings: Readonly<Record<Scope, string>> = {
  models: 'requests to models',
  mcp: 'tool calls over MCP',
  ingest: 'sending traces',
  read: 'seeing pages, lists and exports',
  operate: 'pausing, resuming, approving',
  admin: 'all of these, policies and keys',
}

/** Keys with scopes: those that there are, and a form that makes one. */
const keysPage = (gateway: Gateway): Page => ({
  id: 'access/keys',
  path: '/keys',
  render: async (ask) => {
    const rows = await liveKeys(gateway)
    const main = html`<h1>Keys</h1>
<p class="quiet">Whoever shows one of these keys may do what it is for. Beyond this machine nothing of the administration works without one. The gateway key and the keys of agents are for models, mcp and ingest, and stand elsewhere. <a href="/audit">Who did what</a></p>
${rows.length === 0 ? html`<p class="empty">There is none yet.</p>` : table(ask, rows)}
${form(gateway, ask)}`
    return { title: 'Keys', main }
  },
})

const table = (ask: Ask, rows: readonly AccessKeyRow[]): Html =>
  html`<table class="list rows stacks"><thead><tr><th scope="col" class="free">Key</th><th scope="col">Begins</th><th scope="col">Scopes</th><th scope="col">Projects</th><th scope="col">Made</th><th scope="col">Last used</th><th scope="col">Ends</th><th scope="col"><span class="hidden-label">Act</span></th></tr></thead><tbody>
${rows.map((row) => rowOf(ask, row))}</tbody></table>`

const rowOf = ({ now, url }: Ask, row: AccessKeyRow): Html => {
  const { id, name, prefix, projects, created_at, created_by, last_used_at, expires_at } = row
  return html`<tr id="key-${id}" data-row><th scope="row"><bdi>${name}</bdi></th><td><code>${prefix}…</code></td><td>${row.scopes.join(', ')}</td><td>${projects === null ? 'all' : projects.join(', ')}<span class="unit"> projects</span></td><td>${instantMark(created_at, now)} <span class="quiet">by <bdi>${created_by}</bdi></span></td><td><span class="unit">used </span>${last_used_at === null ? html`<span class="quiet">never</span>` : instantMark(last_used_at, now)}</td><td><span class="unit">ends </span>${expires_at === null ? html`<span class="quiet">never</span>` : instantMark(expires_at, now)}</td><td class="act"><form class="inline" method="post" action="/ui/keys/${encodeURIComponent(id)}/revoke"><input type="hidden" name="return_to" value="${url}"><button aria-label="Revoke the key ${name}">Revoke</button></form></td></tr>
`
}

const form = ({ approver }: Gateway, { refused }: Ask): Html => {
  const again = refused?.form === 'access/keys' ? refused : undefined
  const typed = (name: string): string => again?.fields.get(name) ?? ''
  const chosen = new Set(again?.fields.getAll('scopes') ?? ['read'])
  const id = (name: string) => again?.faults.some(({ field }) => field === name) && html` id="field-${name}"`
  return html`<h2 id="new">A new key</h2>
${faultList(again?.faults ?? [])}
<form method="post" action="/ui/keys" class="new-key">
<p><label>Whose it is<input${id('name')} name="name" value="${typed('name')}" required maxlength="200" autocomplete="off"></label></p>
<fieldset${id('scopes')}><legend>What it is for</legend>${scopes.map(
    (scope) =>
      html`<label class="tick"><input type="checkbox" name="scopes" value="${scope}"${chosen.has(scope) && html` checked`}> ${scope} <span class="quiet">${meanings[scope]}</span></label>`,
  )}</fieldset>
<p class="forms"><label>Projects <span class="quiet">joined by commas; all if empty</span><input${id('projects')} name="projects" value="${typed('projects')}" autocomplete="off"></label>
<label>Ends after <span class="quiet">as 30d; never if empty</span><input${id('expires_in')} name="expires_in" value="${typed('expires_in')}" autocomplete="off"></label>
${approverField(approver, again?.faults)}
<button class="main">Make the key</button></p></form>`
}
