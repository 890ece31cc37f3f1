import type { Gateway } from 'guard-gateway/core'
import { html } from 'guard-gateway/lib/html'
import type { Form, View } from 'guard-gateway/lib/page'
import type { AccessKeys, MadeKey } from '../keys/access-keys.ts'
import { createKey, revokeKey } from '../keys/changes.ts'
import { needKey } from '../keys/key-list.ts'
import { keyRequest } from '../keys/key-request.ts'

/** The form that makes a key, which is shown this once. */
export const makeForm = (gateway: Gateway, keys: AccessKeys): Form => ({
  id: 'access/keys',
  path: '/ui/keys',
  page: '/keys',
  notices: {},
  submit: async ({ fields, now }) => {
    const wrong = gateway.approver.faultIn(fields)
    if (wrong !== undefined) return { faults: [wrong] }
    const projects = listOf(fields.get('projects'))
    const asked = keyRequest(
      {
        name: fields.get('name') ?? '',
        scopes: fields.getAll('scopes'),
        projects: projects.length === 0 ? undefined : projects,
        expires_in: fields.get('expires_in')?.trim() || undefined,
      },
      now,
      gateway.redact,
    )
    return { view: madeView(await createKey(gateway, keys, asked)) }
  },
})

/** The form that ends a key. */
export const revokeForm = (gateway: Gateway, keys: AccessKeys): Form => ({
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
