import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { ENFORCE_RECOMMENDED } from '#lib/budget'
import { main } from '../../../presets/default/main.ts'
import { root } from '../../documents/documents.ts'
import { startGateway } from '../../kit/gateway.ts'
import { fakeIo } from '../../kit/io.ts'

const upstreams = 'upstreams: [{ name: one, base_url: "http://127.0.0.1:9", api_key: sk-of-one, styles: [messages] }]'
const inMemory = `${upstreams}\nstorage: { backend: memory }`

/** Whatever the port, nothing here is about it. */
const config = (server: string, more: string) =>
  `gateway_key: guard_key-of-the-doctor-0123456789abcdef\nserver: { port: 1${server} }\n${more}\n`

const examined = async (context: TestContext, text: string) => {
  const cwd = await mkdtemp(join(tmpdir(), 'guard-doctor-'))
  context.after(() => rm(cwd, { recursive: true, force: true }))
  await writeFile(join(cwd, 'guard-config.yml'), text, { mode: 0o600 })
  const look = async () => {
    const io = fakeIo({ cwd, env: { PATH: process.env.PATH } })
    await main(['doctor'], io)
    return io.outText()
  }
  return { cwd, look }
}

test('lists mode and rules of each project, and warns of enforced default rules', async (context) => {
  const { cwd, look } = await examined(context, config('', upstreams))
  const gateway = await startGateway({ folder: cwd, backend: 'sqlite' })
  for (const [project, document] of Object.entries({
    literal: { mode: 'enforce' },
    stops: { mode: 'enforce', preset: 'enforce-recommended' },
    nudged: { mode: 'enforce', preset: 'steer-recommended' },
    own: { rules: [{ rule_type: 'exact_repeat', threshold: 7 }] },
  }))
    await gateway.request('PUT', `/api/policies/${project}`, document)
  await gateway.request('POST', '/api/demo/run', { scenario: 'exact-loop', mode: 'enforce' })
  await gateway.close()
  const out = await look()
  for (const line of [
    /^✓ projects without a policy of their own: shadow, rules of default$/m,
    /^! project literal: enforce, rules of default\. Enforced, the default rules also stop what is no loop: .*\n {2}→ guard policy apply enforce-recommended --mode enforce --project literal$/m,
    /^✓ project stops: enforce, rules of enforce-recommended$/m,
    /^✓ project nudged: enforce, rules of steer-recommended$/m,
    /^✓ project own: shadow, 1 rules of its own$/m,
  ])
    assert.match(out, line)
  assert.doesNotMatch(out, /project playground-/)
})

test('warns of each project that no upstream serves', async (context) => {
  const alone = upstreams.replace('}]', ', projects: [served, default] }]')
  const { cwd, look } = await examined(context, config('', alone))
  const gateway = await startGateway({ folder: cwd, backend: 'sqlite' })
  for (const project of ['served', 'left', 'default'])
    await gateway.request('PUT', `/api/policies/${project}`, { mode: 'shadow' })
  await gateway.close()
  const out = await look()
  assert.match(
    out,
    /^! project left: shadow, .*\. No upstream serves it\n {2}→ Name left under projects of an entry of upstreams, or add an entry without projects\.$/m,
  )
  assert.match(out, /^✓ project served: shadow/m)
  assert.match(out, /^✓ projects without a policy of their own: shadow/m)
})

test('says what README’s command has set for all projects', async (context) => {
  const { cwd, look } = await examined(context, config('', upstreams))
  const gateway = await startGateway({ folder: cwd, backend: 'sqlite' })
  await gateway.request('PUT', '/api/policies/default', { mode: 'enforce', preset: 'enforce-recommended' })
  await gateway.request('PUT', '/api/policies/calm', { mode: 'shadow' })
  await gateway.close()
  const out = await look()
  assert.match(out, /^✓ mode enforce$/m)
  assert.match(out, /^✓ projects without a policy of their own: enforce, rules of enforce-recommended$/m)
  assert.match(out, /^✓ project calm: shadow, rules of enforce-recommended$/m)
})

test('FIRST-BLOCK recommends the command that doctor recommends', async () => {
  assert.ok(
    (await readFile(join(root, 'plugins/policy/FIRST-BLOCK.md'), 'utf8')).includes(`guard ${ENFORCE_RECOMMENDED}`),
  )
})

test('warns of a configuration that enforces the default rules, not the recommended ones', async (context) => {
  const look = async (more: string) => (await examined(context, config('', `${inMemory}\n${more}`))).look()
  const literal = await look('default_mode: enforce')
  assert.match(
    literal,
    /^! projects without a policy of their own: enforce, rules of default\. Enforced, .*\n {2}→ guard policy apply enforce-recommended --mode enforce$/m,
  )
  assert.equal(literal.match(/100,000 tokens/g)?.length, 1)
  const recommended = await look('preset: enforce-recommended')
  assert.match(recommended, /^✓ projects without a policy of their own: enforce, rules of enforce-recommended$/m)
})

test('lists clients with another block status', async (context) => {
  const of = async (override: string) => {
    const text = config(`, block_status_override: ${override}`, inMemory)
    return (await examined(context, text)).look()
  }
  assert.match(await of('{}'), /^✓ blocks: built in opencode\/\* 403, .*, ls\/JS \* 403; all others 429 or 409$/m)
  assert.match(
    await of('{ "codex*": 400, "opencode/*": null }'),
    /^✓ blocks: by server\.block_status_override codex\* 400, opencode\/\* 429 or 409; built in Kilo-Code\/\* 403, .*; switched off opencode\/\*; all others 429 or 409$/m,
  )
  assert.match(await of('{ "*": null }'), /; switched off opencode\/\*, .*, ls\/JS \*; all others/)
})
