import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Started, startGateway } from 'guard-gateway/test'
import { client, recording } from './agent.ts'
import { workplace } from './kit.ts'

const enforced = { mode: 'enforce', preset: 'enforce-recommended' }

/** The lines of a run in project `demo` that tell what judges it; stdout is the agent's. */
const told = async (
  context: Parameters<typeof workplace>[0],
  gateway: Pick<Started, 'url' | 'key'>,
  {
    flags = {},
    name = 'claude',
    allow_mode_header = false,
  }: { flags?: object; name?: string; allow_mode_header?: boolean } = {},
): Promise<readonly string[]> => {
  const { cwd, command } = await workplace(context, {
    address: gateway.url,
    gateway_key: gateway.key,
    running: async () => gateway.url,
    allow_mode_header,
  })
  const { whole, out } = await command('run', [], { project: 'demo', ...flags }, [await client(cwd, name, '')])
  assert.equal(out, '')
  return whole.split('\n').filter((line) => /^guard: (?:project|warning|requests)/.test(line))
}

test('a run says its project and mode, and whose policy it is', async (context) => {
  const gateway = await startGateway()
  context.after(() => gateway.close())
  const flagged = 'guard: project demo, shadow: what matches a rule is flagged, nothing is stopped'
  assert.deepEqual(await told(context, gateway), [flagged])
  await gateway.request('PUT', '/api/policies/default', enforced)
  assert.deepEqual(await told(context, gateway), [
    'guard: project demo, enforce: what matches a blocking rule is refused, by the policy of project default',
  ])
  await gateway.request('PUT', '/api/policies/demo', { mode: 'shadow' })
  const fix = 'guard policy apply enforce-recommended --mode enforce --project demo'
  assert.deepEqual(await told(context, gateway), [
    flagged,
    `guard: warning: project default is enforced, this run is not. Enforce it: ${fix}`,
  ])
  assert.deepEqual(await told(context, gateway, { name: 'tool' }), [
    flagged,
    'guard: requests without its labels are of project default, enforce',
    `guard: warning: project default is enforced, this run is not. Enforce it: ${fix}`,
  ])
})

test('a run in shadow warns of another project that is enforced, not of one of the Playground', async (context) => {
  const gateway = await startGateway()
  context.after(() => gateway.close())
  await gateway.request('PUT', '/api/policies/playground-mine', enforced)
  assert.equal((await told(context, gateway)).length, 1)
  await gateway.request('PUT', '/api/policies/shop', enforced)
  assert.match(
    String((await told(context, gateway))[1]),
    /^guard: warning: project shop is enforced, this run is not\. /,
  )
  assert.match(
    String((await told(context, gateway, { flags: { project: 'default' } }))[1]),
    /policy apply enforce-recommended --mode enforce$/,
  )
  assert.deepEqual(await told(context, gateway, { flags: { mode: 'enforce' }, allow_mode_header: true }), [
    'guard: project demo, enforce: what matches a blocking rule is refused, as --mode says',
  ])
})

test('a gateway that does not tell the policy does not stop the run', async (context) => {
  const url = await recording(context, { more: { mode_in_force: null } })
  assert.deepEqual(await told(context, { url, key: 'guard_key-0123456789' }), [
    'guard: project demo; its mode is not known: the gateway answered no policy',
  ])
})
