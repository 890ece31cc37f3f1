import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { type FakeProvider, fakeProvider } from '../kit/provider.ts'
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
  let provider: FakeProvider
  before(async () => {
    provider = await fakeProvider()
    world = await startWorld({ provider: provider.url, backend: 'sqlite' })
    await world.trace(threeSteps('the first', Date.now() - 1000))
  })
  after(async () => {
    await provider.close()
    await world.close()
  })

  it('a request is shown while it is answered, and among the latest when it has ended', async () => {
    const visit = await world.open()
    const { page } = visit
    await visit.to('/')
    await page.locator('#live', { hasText: 'live' }).waitFor()
    const { promise, resolve } = Promise.withResolvers<void>()
    provider.script({ until: promise })
    const answer = fetch(`${world.url}/v1/messages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': world.gateway.key },
      body: '{"model":"slow-model","max_tokens":8,"messages":[{"role":"user","content":"hello"}]}',
    })
    await page.getByRole('heading', { name: 'Requests under way (1)' }).waitFor()
    assert.match(await page.locator('[id^="guardreq_"]').innerText(), /slow-model[\s\S]*waits/)
    resolve()
    assert.equal((await answer).status, 200)
    await page.getByText('None at this moment.').waitFor()
    await page.locator('[id^="call-"]', { hasText: 'slow-model' }).waitFor()
    await visit.close()
  })

  it('a new run appears, and what was checked, typed, chosen and focused stays', async () => {
    const visit = await world.open()
    const { page } = visit
    await visit.to('/replay')
    await page.locator('#live', { hasText: 'live' }).waitFor()
    const box = page.locator('[name="run"]').first()
    await box.check()
    // where it rests on a row nothing comes before that
    await page.mouse.move(0, 0)
    const chosen = await box.getAttribute('value')
    await page.locator('[name="tag"]').fill('typed before')
    await page.locator('[name="status"]').selectOption('error')
    await page.locator('main').getByRole('searchbox').fill('half a wor')
    const id = await world.trace(threeSteps('the second', Date.now()))
    await page.locator(`#run-${id}`).waitFor()
    assert.equal(await page.locator(`[name="run"][value="${chosen}"]`).isChecked(), true)
    assert.equal(await page.locator('main').getByRole('searchbox').inputValue(), 'half a wor')
    assert.equal(await page.locator('[name="tag"]').inputValue(), 'typed before')
    assert.equal(await page.locator('[name="status"]').inputValue(), 'error')
    assert.equal(
      await page
        .locator('main')
        .getByRole('searchbox')
        .evaluate((field) => field === document.activeElement),
      true,
    )
    await visit.close()
  })

  it('a refresh waits for the one before it, whose older answer would stand in the end', async () => {
    const visit = await world.open()
    const { page } = visit
    await visit.to('/replay')
    await page.locator('#live', { hasText: 'live' }).waitFor()
    const [held, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    let asked = 0
    await page.route('/replay', async (route) => {
      const isFirst = asked++ === 0
      const response = await route.fetch()
      if (isFirst) {
        held.resolve()
        await released.promise
      }
      await route.fulfill({ response })
    })
    await world.trace(threeSteps('is in the older answer', Date.now()))
    await held.promise
    const id = await world.trace(threeSteps('is in the newer answer', Date.now()))
    await hide(page, false)
    // what is asked for after it is answered after a second refresh would have been asked for
    await page.evaluate(async () => (await fetch('/api/health')).text())
    assert.equal(asked, 1)
    released.resolve()
    await page.locator(`#run-${id}`).waitFor()
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
    await world.restart()
    const id = await world.trace(threeSteps('after the restart', Date.now()))
    await page.locator(`#run-${id}`).waitFor()
    // the browser writes down that the stream broke off
    await page.context().close()
  })
})
