import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { it } from 'node:test'
import { startMcp } from '../../../kit/mcp.ts'
import { asking, get, POLICY, page, send } from './kit.ts'

it('a rule is made of a call from its card, shown with its preview, and written by its form', async () => {
  await using service = await startMcp({ policy: POLICY })
  const client = await service.session()
  const id = await asking(client, { path: 'notes/<b>.md' })
  assert.match(await page(service), new RegExp(`<a href="/approvals/${id}/rule">Make a rule of this</a>`))
  const narrow = await page(service, `/approvals/${id}/rule`)
  assert.match(narrow, /inside: \[ notes\/&lt;b&gt;\.md \]/)
  assert.match(narrow, /What it would have decided on record.*<strong>1 would differ<\/strong>/s)
  const wide = await page(service, `/approvals/${id}/rule?width=wide`)
  assert.match(wide, /inside: \[ notes \]/)
  const version = /name="policy_version" value="([0-9a-f]+)"/.exec(wide)?.[1] ?? assert.fail()
  const stale = await send(service, `/ui/approvals/${id}/rule`, { width: 'wide', policy_version: 'x' })
  assert.match(await stale.text(), /The policy is another by now/)
  const done = await send(service, `/ui/approvals/${id}/rule`, {
    width: 'wide',
    policy_version: version,
    return_to: `/approvals/${id}`,
  })
  assert.equal(done.status, 303)
  assert.match(await readFile(join(service.folder, 'policy.yml'), 'utf8'), /- id: write_file-like\n/)
  assert.equal((await get(service, '/approvals/apr_none/rule')).status, 404)
})

it('says why no rule can be made of a call whose arguments are gone', async () => {
  await using service = await startMcp({ policy: POLICY })
  const id = await asking(await service.session(), { path: 'a' })
  await service.gateway.request('POST', `/api/v1/mcp/approvals/${id}`, { action: 'deny' })
  assert.match(await page(service, `/approvals/${id}/rule`), /arguments of this call are not on record/)
  assert.doesNotMatch(await page(service, `/approvals/${id}`), /Make a rule of this/)
})

it('a policy is drafted for a server from its place on the page', async () => {
  await using service = await startMcp({ policy: POLICY })
  assert.equal((await get(service, '/drafts/up')).status, 404)
  await (await service.session()).request('tools/list')
  assert.match(await page(service), /<a href="\/drafts\/up">Draft a policy<\/a>/)
  const draft = await page(service, '/drafts/up?since=7d')
  assert.match(draft, /# A draft for up, made on/)
  assert.match(draft, /href="\/api\/v1\/mcp\/draft\?server_id=up&amp;since=7d&amp;format=yaml"/)
})
