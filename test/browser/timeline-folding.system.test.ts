import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { noBrowser } from './chromium.ts'
import { at } from './data.ts'
import { rowTexts } from './row-texts.ts'
import { startWorld, type World } from './world.ts'

const HOUR_MS = 3_600_000

const figures = {
  'gen_ai.request.model': 'gpt',
  'gen_ai.usage.input_tokens': 1_234,
  'gen_ai.usage.output_tokens': 5,
  'guard.cost_micro': 1_020_304,
  'guard.fingerprint': 'same',
}

/** Requests of which the first thirty are equal, with a tool call below each. */
const requests = (count: number, start_ms: number) =>
  Array.from({ length: count }, (_, index) => ({
    id: `r${index}`,
    name: 'gen_ai.request',
    status: index % 40 === 39 ? 'timeout' : 'ok',
    ...(index % 40 === 39 ? { status_message: '529 overloaded_error' } : {}),
    start_ns: at(start_ms, index * 10),
    end_ns: at(start_ms, index * 10 + 5),
    attributes: index < 30 ? figures : { ...figures, 'guard.fingerprint': `other ${index}` },
    spans: [
      {
        id: `t${index}`,
        name: 'tool.call',
        start_ns: at(start_ms, index * 10 + 1),
        end_ns: at(start_ms, index * 10 + 2),
        attributes: { 'tool.name': 'bash', 'guard.argument_hash': 'same' },
      },
    ],
  }))

describe('equal steps of a timeline', { skip: noBrowser }, () => {
  let world: World
  const start = Date.now() - HOUR_MS
  before(async () => {
    world = await startWorld()
  })
  after(() => world.close())

  it('folds equal steps of a long run as the server does, and unfolds them', async () => {
    const id = await world.trace({ name: 'repeated', status: 'ok', spans: requests(600, start) })
    const visit = await world.open()
    const { page } = visit
    const rows = () => page.locator('#timeline tr[id]').evaluateAll(rowTexts)
    for (const query of [
      '',
      'span=r7',
      'unfolded=r0',
      'closed=r0',
      'open=-',
      'from=50000000&to=4000000000&find=bash',
    ]) {
      await visit.to(`/replay/${id}?${query}`)
      const served = await rows()
      await visit.to(`/replay/${id}?${query}&all=1`)
      if (await page.locator('#load-all').count())
        await page.locator('#timeline .spacer').first().waitFor({ state: 'attached' })
      const drawn = await rows()
      assert.ok(drawn.length > 20, query)
      const first = served.indexOf(drawn[0] ?? '')
      assert.ok(first >= 0, query)
      for (const [at, row] of drawn.entries()) assert.equal(row, served[first + at], query)
    }
    await visit.to(`/replay/${id}?all=1&span=r0`)
    const link = page.locator('#span-r0 .equal', { hasText: '×30, equal' })
    await link.click()
    await page.locator('#span-r1').waitFor()
    await link.click()
    await page.locator('#span-r1').waitFor({ state: 'detached' })
    await visit.close()
  })
})
