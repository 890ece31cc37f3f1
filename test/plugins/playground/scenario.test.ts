import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Gateway, GuardError } from 'guard-gateway/core'
import { type ModelScenario, playground, scenario, scenariosOf } from 'guard-gateway/plugins/playground'

const story = (over: Partial<ModelScenario>): ModelScenario => ({
  id: 'own-story',
  title: 'Mine',
  summary: 'A pause.',
  kind: 'model',
  steps: [{ what: 'pauses', do: 'pause', target: 'agent', expect: { shadow: {}, enforce: {} } }],
  ...over,
})

const code = (wanted: string, message: RegExp) => (error: unknown) =>
  error instanceof GuardError && error.code === wanted && message.test(error.message)

describe('scenario', () => {
  it('is a plugin that may be before the Playground or after it', () => {
    const gateway = new Gateway()
    const before = scenario(story({ id: 'before' }))
    assert.equal(before.name, 'scenario/before')
    gateway.use(before)
    playground().apply(gateway)
    gateway.use(scenario(story({ id: 'behind' })))
    const ids = scenariosOf(gateway).ids()
    assert.deepEqual([ids[0], ids.at(-1)], ['before', 'behind'])
  })

  it('belongs to one gateway', () => {
    const gateway = new Gateway().use(scenario(story({})))
    assert.deepEqual(scenariosOf(gateway).ids(), ['own-story'])
    assert.deepEqual(scenariosOf(new Gateway()).ids(), [])
  })

  it('refuses an id that another scenario has', () => {
    const gateway = new Gateway()
    playground().apply(gateway)
    assert.throws(() => gateway.use(scenario(story({ id: 'exact-loop' }))), code('DUPLICATE', /"exact-loop"/))
  })

  for (const id of ['', 'Own', 'own_story', 'own--story', '-own', 'own/story', 'a'.repeat(65)]) {
    it(`refuses ${JSON.stringify(id.slice(0, 12))} as an id`, () => {
      assert.throws(() => scenario(story({ id })), code('INVALID_CONFIG', /cannot name a scenario/))
    })
  }

  it('refuses a scenario without steps', () => {
    assert.throws(() => scenario(story({ steps: [] })), code('INVALID_CONFIG', /has no steps/))
  })
})
