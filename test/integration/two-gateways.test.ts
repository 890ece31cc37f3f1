import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type ApiStyle, apiStyle, type Part } from 'guard-gateway/core'
import { messages } from 'guard-gateway/plugins/api-styles/messages'
import { dialectOf, type Step } from '../kit/dialogue.ts'
import { decisionOf, type Service, startService } from '../kit/service.ts'

/** A dialect of this id that reads the calls of messages in a way of its own. */
const own = (read: (part: Part) => Part) =>
  apiStyle({
    ...messages,
    id: 'own',
    paths: ['/v1/own'],
    parts: (element) => messages.parts(element).map(read),
  } satisfies ApiStyle)

const literal = own((part) => part)
/** To this one a call is another each time, whatever its arguments. */
const numbered = own((part) => (part.kind === 'call' ? { ...part, args: { id: part.id } } : part))

describe('two gateways in one process', () => {
  const services: Service[] = []
  before(async () => {
    for (const style of [literal, numbered]) {
      const service = await startService({
        config: 'default_mode: enforce',
        plugins: [style],
        upstreams: (url) => `[{ name: provider, base_url: "${url}", styles: [own, messages] }]`,
      })
      services.push(service)
      await service.policy({ rules: [{ rule_type: 'tool_repeat', threshold: 3, action: 'block' }] })
    }
  })
  after(() => Promise.all(services.map((service) => service[Symbol.asyncDispose]())))

  it('read the same bytes each by its own style, though the styles have one id', async () => {
    const dialect = { ...dialectOf('messages'), path: '/v1/own' }
    // long enough to be kept
    const begin: Step = { user: `Repair the failing test. ${'It is about dates. '.repeat(200)}` }
    const step: Step = { tool: 'read_file', args: { path: 'src/a.ts' }, result: 'the same text' }
    const sessions = [1, 2, 3, 4].map((calls) => [begin, ...Array.from({ length: calls }, () => step)])
    const [first, second] = services
    assert.ok(first !== undefined && second !== undefined)
    const statuses = async (service: Service, sent: readonly Step[][]) => {
      const seen = []
      for (const steps of sent)
        seen.push(decisionOf(await service.send(dialect, steps, { 'x-guard-session-id': 's' })).status)
      return seen
    }
    assert.deepEqual(await statuses(first, sessions), [200, 200, 429, 429])
    assert.deepEqual(await statuses(second, sessions.slice(2)), [200, 200])
  })
})
