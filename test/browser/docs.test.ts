import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { noBrowser } from './chromium.ts'
import type { Visit } from './visit.ts'
import { startWorld, type World } from './world.ts'

interface Described {
  readonly paths: Readonly<Record<string, Readonly<Record<string, object>>>>
}

describe('/docs', { skip: noBrowser }, () => {
  let world: World
  let visit: Visit
  // one visit for all: the viewer is large
  before(async () => {
    world = await startWorld()
    visit = await world.open()
    await visit.to('/docs')
    await visit.page.locator('.opblock').first().waitFor()
  })
  after(async () => {
    await visit.close()
    await world.close()
  })

  it('lists every operation of /openapi.json', async () => {
    const { json } = await world.api('GET', '/openapi.json')
    const wanted = Object.entries((json as unknown as Described).paths).flatMap(([path, operations]) =>
      Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`),
    )
    const shown = await visit.page.locator('.opblock-summary').evaluateAll((lines) =>
      lines.map((line) => {
        const method = line.querySelector('.opblock-summary-method')?.textContent ?? ''
        const path = line.querySelector('.opblock-summary-path')?.getAttribute('data-path') ?? ''
        return `${method} ${path}`
      }),
    )
    assert.deepEqual(shown.sort(), wanted.sort())
  })

  it('tries an operation out on this gateway, under its policy', async () => {
    const { page } = visit
    const health = page.locator('.opblock', { has: page.locator('[data-path="/api/health"]') })
    await health.locator('.opblock-summary-control').click()
    const answered = page.waitForResponse((answer) => new URL(answer.url()).pathname === '/api/health')
    await health.locator('.execute').click()
    assert.equal((await answered).status(), 200)
    await health.locator('.live-responses-table .microlight', { hasText: 'uptime_seconds' }).first().waitFor()
  })

  it('sends the body that is typed', async () => {
    const { page } = visit
    const ingest = page.locator('.opblock', { has: page.locator('[data-path="/api/v1/traces"]') })
    await ingest.locator('.opblock-summary-control').click()
    await ingest.locator('textarea.body-param__text').fill('{"name": "sent from the page", "status": "ok"}')
    const answered = page.waitForResponse((answer) => new URL(answer.url()).pathname === '/api/v1/traces')
    await ingest.locator('.execute').click()
    const { trace_id } = (await (await answered).json()) as { readonly trace_id: string }
    const { json } = await world.api('GET', `/api/v1/runs/${trace_id}`)
    assert.equal((json.run as { readonly name: string }).name, 'sent from the page')
  })

  it('does without sideways scroll at 360 px, where operations are open', async () => {
    await visit.page.setViewportSize({ width: 360, height: 800 })
    assert.ok((await visit.page.locator('.opblock-body').count()) >= 2)
    assert.ok((await visit.overflow()) <= 0, `${await visit.overflow()} px too wide`)
  })

  it('leads back to the pages', async () => {
    await visit.page.getByRole('link', { name: 'Guard', exact: true }).click()
    await visit.page.waitForURL('**/replay')
  })
})
