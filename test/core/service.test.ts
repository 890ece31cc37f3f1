import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Gateway, Service } from 'guard-gateway/core'
import { foundation } from 'guard-gateway/presets/foundation'

describe('a service', () => {
  it('is provided once and needed by many', () => {
    const service = new Service<number>('count')
    assert.equal(service.get(), undefined)
    assert.throws(() => service.need(), { code: 'MISSING_PLUGIN', message: /"count"/ })
    service.provide(1)
    assert.deepEqual([service.get(), service.need()], [1, 1])
    assert.throws(() => service.provide(2), { code: 'DUPLICATE', message: /"count"/ })
  })
  it('may be made by whoever comes first', () => {
    const service = new Service<object>('place')
    const made = service.getOrProvide(() => ({}))
    assert.equal(
      service.getOrProvide(() => ({})),
      made,
    )
  })
  it('belongs to one gateway', () => {
    const [one, other] = [new Gateway(), new Gateway()]
    assert.equal(one.service('sessions'), one.service('sessions'))
    assert.notEqual(one.service('sessions'), other.service('sessions'))
  })
})

describe('a gateway', () => {
  it('does not open without what hides secrets, keeps keys and stores', async () => {
    const all = foundation()
    // the processes of parsers are no service that others need
    const needed = all.filter(({ name }) => name !== 'parsers')
    for (const missing of needed) {
      const gateway = new Gateway().use(
        ...all.filter((plugin) => plugin !== missing).map((plugin) => ({ ...plugin, requires: [] })),
      )
      await assert.rejects(gateway.open(), { code: 'MISSING_PLUGIN', message: new RegExp(`"${missing.name}"`) })
    }
  })
})
