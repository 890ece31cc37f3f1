import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Gateway, type Plugin } from 'guard-gateway/core'
import { exactRepeat } from 'guard-gateway/plugins/detectors/exact-repeat'
import { memory } from 'guard-gateway/plugins/storage/memory'
import { foundation } from 'guard-gateway/presets/foundation'

const plugin = (name: string, more: Partial<Plugin> = {}): Plugin => ({ name, apply: () => {}, ...more })

describe('a gateway', () => {
  it('refuses a plugin twice, and an entry of one kind twice', () => {
    assert.throws(() => new Gateway().use(plugin('a'), plugin('a')), { code: 'DUPLICATE' })
    assert.throws(() => new Gateway().use(exactRepeat, { ...exactRepeat, name: 'detector/other' }), {
      code: 'DUPLICATE',
    })
  })
  it('refuses a plugin whose requirement is not there before it, and names what is', () => {
    const needy = plugin('needy', { requires: ['storage/memory'] })
    assert.throws(() => new Gateway().use(plugin('a'), needy), {
      code: 'MISSING_PLUGIN',
      message: /"storage\/memory".*a\./,
    })
    assert.deepEqual(new Gateway().use(memory(), needy).plugins(), ['storage/memory', 'needy'])
  })
  it('names what there is when something unknown is asked for', () => {
    const gateway = new Gateway().use(exactRepeat)
    assert.throws(() => gateway.detectors.need('tool_repeat'), { code: 'UNKNOWN', message: /exact_repeat/ })
  })
  it('does not open without a storage backend, and has no storage before', async () => {
    await assert.rejects(new Gateway().use(...foundation()).open(), { code: 'MISSING_PLUGIN' })
    assert.throws(() => new Gateway().use(...foundation()).storage, { code: 'STORAGE_UNAVAILABLE' })
  })
  it('closes what was opened when a plugin cannot open', async () => {
    const seen: string[] = []
    const gateway = new Gateway().use(
      ...foundation(),
      memory(),
      plugin('first', {
        apply: ({ hooks }) => {
          hooks.open.tap('first', () => void seen.push('open'))
          hooks.close.tap('first', () => void seen.push('close'))
        },
      }),
      plugin('second', {
        apply: ({ hooks }) =>
          hooks.open.tap('second', () => {
            throw new Error('no')
          }),
      }),
    )
    await assert.rejects(gateway.open(), /no/)
    assert.deepEqual(seen, ['open', 'close'])
  })
})

describe('an isolated hook', () => {
  it('reports what a tap throws or rejects with, and runs the others', async () => {
    const gateway = new Gateway().use(...foundation())
    const faults: string[] = []
    const seen: string[] = []
    gateway.hooks.fault.tap('test', (error, where) => void faults.push(`${where} ${String(error)}`))
    gateway.hooks.close.tap('thrower', () => {
      throw new Error('thrown')
    })
    gateway.hooks.close.tapPromise('rejecter', () => Promise.reject(new Error('rejected')))
    gateway.hooks.close.tap('last', () => void seen.push('last'))
    await gateway.close()
    assert.deepEqual(faults, ['close:thrower Error: thrown', 'close:rejecter Error: rejected'])
    assert.deepEqual(seen, ['last'])
  })
  it('survives a reporter that fails', () => {
    const gateway = new Gateway().use(...foundation())
    gateway.hooks.fault.tap('broken', () => {
      throw new Error('reporter')
    })
    gateway.fault(new Error('x'), 'somewhere')
  })
})
