import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { startService } from 'guard-gateway/test'
import { differencesOf } from '../../../plugins/cluster/differences.ts'
import { sharedMemory } from '../../kit/shared-memory.ts'

interface Instances {
  readonly shared: boolean
  readonly instances: readonly { readonly id: string; readonly this_one: boolean; readonly version: string }[]
  readonly differences: readonly string[]
}

describe('GET /api/instances', () => {
  it('lists the gateways on the same storage, and health names the one that answers', async () => {
    const backend = sharedMemory()
    const start = () => startService({ plugins: [backend], backend: 'shared-memory' })
    await using one = await start()
    await using other = await start()
    const { json } = await other.request('GET', '/api/instances')
    const { shared, instances, differences } = json as Instances
    assert.equal(shared, true)
    assert.equal(instances.length, 2)
    assert.deepEqual(differences, [])
    const own = instances.filter(({ this_one }) => this_one)
    const health = (await other.request('GET', '/api/health')).json as {
      cluster: { instance: string; shared: boolean }
    }
    assert.deepEqual(
      own.map(({ id }) => id),
      [health.cluster.instance],
    )
    const first = (await one.request('GET', '/api/health')).json as { cluster: { instance: string } }
    assert.notEqual(first.cluster.instance, health.cluster.instance)
  })

  it('is empty where a gateway is alone, which writes nothing for it', async () => {
    await using service = await startService()
    const { json } = await service.request('GET', '/api/instances')
    assert.deepEqual(json, { shared: false, instances: [], differences: [] })
    for (const table of ['instances', 'generations', 'leases', 'open_calls'] as const)
      assert.deepEqual((await service.gateway.gateway.storage.find(table)).rows, [])
  })

  it('tells which files differ, and where', () => {
    const instance = (host: string, version: string | null) => ({
      ...{ id: host, host, pid: 1, version: '1', process: host, started_at: 0, beats: 1, ended_by: null },
      facts: { price_file: version, mcp_policy: 'same' },
    })
    assert.deepEqual(differencesOf([instance('a', 'v1'), instance('b', 'v1')]), [])
    assert.deepEqual(differencesOf([instance('a', 'v1'), instance('b', null), instance('c', 'v1')]), [
      'The gateways differ in price file: v1 on a:1, c:1; none on b:1. Give all of them the same file.',
    ])
  })
})
