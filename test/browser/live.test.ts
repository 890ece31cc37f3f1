import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { startChildGateway } from '../kit/child-gateway.ts'
import { noBrowser } from './chromium.ts'
import { threeSteps } from './data.ts'
import { startWorld, type World } from './world.ts'

/** What `document.hidden` says from now on, as when a tab goes to the background or comes back. */
const hide = (page: Page, hidden: boolean): Promise<void> =>
  page.evaluate((value) => {
    Object.defineProperty(document, 'hidden', { value, configurable: true })
    document.dispatchEvent(new Event('visibilitychange'))
  }, hidden)

describe('live pages', { skip: noBrowser }, () => {
  let world: World
  before(async () => {
    world = await startWorld()
    await world.trace(threeSteps('the first', Date.now() - 1000))
  })
  after(() => world.close())

  const listeners = async (): Promise<number> => {
    const text = await (await fetch(`${world.url}/metrics`)).text()
    return Number(/^guard_stream_listeners (\d+)/m.exec(text)?.[1] ?? Number.NaN)
  }

  it('a new run appears, and what was checked and focused stays', async () => {
    const visit = await world.open()
    const { page } = visit
    await visit.to('/replay')
    await page.locator('#live', { hasText: 'live' }).waitFor()
    const box = page.locator('[name="run"]').first()
    await box.check()
    const chosen = await box.getAttribute('value')
    await page.getByRole('searchbox').fill('half a wor')
    const id = await world.trace(threeSteps('the second', Date.now()))
    await page.locator(`#run-${id}`).waitFor()
    assert.equal(await page.locator(`[name="run"][value="${chosen}"]`).isChecked(), true)
    assert.equal(await page.getByRole('searchbox').inputValue(), 'half a wor')
    assert.equal(await page.getByRole('searchbox').evaluate((field) => field === document.activeElement), true)
    await visit.close()
  })

  it('a tab that is hidden lets its stream go, and is up to date when it comes back', async () => {
    const visit = await world.open()
    const { page } = visit
    await visit.to('/replay')
    await page.locator('#live', { hasText: 'live' }).waitFor()
    const ended = page.waitForEvent('requestfailed', (request) => request.url().endsWith('/api/v1/stream'))
    await hide(page, true)
    await ended
    const id = await world.trace(threeSteps('while away', Date.now()))
    assert.equal(await page.locator(`#run-${id}`).count(), 0)
    await hide(page, false)
    await page.locator(`#run-${id}`).waitFor()
    await visit.close()
  })

  it('five tabs that listen do not keep a form waiting', async () => {
    const visit = await world.open()
    const context = visit.page.context()
    const tabs = [visit.page]
    for (let more = 1; more < 5; more++) tabs.push(await context.newPage())
    for (const tab of tabs) {
      await tab.goto('/replay')
      await tab.locator('#live', { hasText: 'live' }).waitFor()
    }
    const [first] = tabs
    assert.ok(first)
    await first.bringToFront()
    await first.locator('main .pin').first().click()
    await first.waitForURL(/notice=/)
    await visit.close()
  })

  it('a gateway that ends and starts again is survived', async () => {
    const visit = await world.open()
    const { page } = visit
    await visit.to('/replay')
    await page.locator('#live', { hasText: 'live' }).waitFor()
    const port = new URL(world.url).port
    await world.gateway.end('SIGTERM')
    const again = await startChildGateway(world.folder, 'http://127.0.0.1:9', `server: { port: ${port} }`, port)
    try {
      const answer = await fetch(`${world.url}/api/v1/traces`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(threeSteps('after the restart', Date.now())),
      })
      const { trace_id } = (await answer.json()) as { readonly trace_id: string }
      await page.locator(`#run-${trace_id}`).waitFor()
    } finally {
      await again.end('SIGKILL')
    }
    // the browser writes down that the stream broke off
    await page.context().close()
  })
})
