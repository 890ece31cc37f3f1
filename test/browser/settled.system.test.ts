import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { noBrowser } from './chromium.ts'
import { allow, type Crowd, middleOf, startCrowd } from './crowd.ts'

describe('what has just moved or appeared', { skip: noBrowser }, () => {
  let crowd: Crowd
  before(async () => {
    crowd = await startCrowd()
  })
  after(() => crowd.world.close())

  const shifts: readonly (readonly [why: string, shift: (page: Page) => Promise<unknown>])[] = [
    [
      'a notice comes on top',
      (page) =>
        page.evaluate(() =>
          document
            .getElementById('main')
            ?.prepend(Object.assign(document.createElement('p'), { textContent: 'News', style: 'height: 90px' })),
        ),
    ],
    [
      'a part above opens',
      (page) =>
        page.evaluate(() => {
          const part = document.createElement('details')
          part.innerHTML = '<summary>more</summary><p>one<p>two<p>three'
          document.getElementById('main')?.prepend(part)
          setTimeout(() => {
            part.open = true
          }, 700)
          return new Promise((done) => {
            part.addEventListener('toggle', done)
          })
        }),
    ],
    ['the window becomes narrower', (page) => page.setViewportSize({ width: 500, height: 900 })],
  ]
  for (const [why, shift] of shifts)
    it(`a button that has just moved ignores the pointer for half a second: ${why}`, async () => {
      await crowd.answerAll()
      const id = await crowd.question()
      const visit = await crowd.open('/mcp')
      const { page } = visit
      await page.waitForTimeout(600)
      await shift(page)
      const at = await middleOf(allow(page, id))
      await page.mouse.click(at.x, at.y)
      await page.locator('#told', { hasText: 'has just moved' }).waitFor()
      assert.deepEqual(await crowd.statuses([id]), ['pending'])
      await page.waitForTimeout(700)
      await page.mouse.click(at.x, at.y)
      await page.locator('.notice', { hasText: 'Allowed' }).waitFor()
      await visit.close()
    })

  it('nothing can be pressed before that is known, however slowly scripts come', async () => {
    const ids = await crowd.three()
    const visit = await crowd.open('/mcp')
    const { page } = visit
    const at = await middleOf(allow(page, ids[0]))
    await page.route(/\/(?:app|settled)\.js$/, async (route) => {
      await page.waitForTimeout(1_000)
      await route.continue()
    })
    await page.goto('/docs')
    const gone = page.goto('/mcp')
    await page.waitForURL('**/mcp', { waitUntil: 'commit' })
    for (let click = 0; click < 6; click++) {
      await page.mouse.click(at.x, at.y)
      await page.waitForTimeout(50)
    }
    await gone
    await page.mouse.click(at.x, at.y)
    assert.deepEqual(await crowd.statuses(ids), ['pending', 'pending', 'pending'])
    await page.unrouteAll()
    await visit.close()
  })

  it('what cannot be pressed yet says so until it can, whatever the page is told meanwhile', async () => {
    const [id] = await crowd.three()
    const visit = await crowd.open('/mcp')
    const { page } = visit
    const lasted = allow(page, id).evaluate(
      (button) =>
        new Promise<number>((done) => {
          let since: number | undefined
          new MutationObserver(() => {
            if (button.ariaDisabled === 'true') since ??= performance.now()
            else if (since !== undefined) done(performance.now() - since)
          }).observe(button, { attributes: true })
        }),
    )
    // an update that changes nothing, while the button has just moved
    const path = await page.evaluate(() => location.href)
    await page.route(path, async (route) => {
      const response = await route.fetch()
      await page.locator('.bar').evaluate((bar) => {
        bar.style.paddingTop = '90px'
      })
      await allow(page, id).and(page.locator('[aria-disabled]')).waitFor()
      await route.fulfill({ response })
    })
    await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')))
    assert.ok((await lasted) >= 490, `${await lasted} ms`)
    await page.unrouteAll()
    await visit.close()
  })

  it('a tap on what has just come below the finger does nothing, nor does a click at the moment of it', async () => {
    const ids = await crowd.three()
    const visit = await crowd.open('/mcp', { hasTouch: true })
    const { page } = visit
    const at = await middleOf(allow(page, ids[1]))
    await page.evaluate(() => {
      const count = document.querySelector('.bar .count')
      if (count !== null)
        new MutationObserver(() => document.body.setAttribute('data-came', '')).observe(count, {
          childList: true,
          characterData: true,
          subtree: true,
        })
    })
    await crowd.answer(ids[0])
    await page.locator('body[data-came]').waitFor()
    await page.touchscreen.tap(at.x, at.y)
    await page.locator('#told', { hasText: 'has just moved' }).waitFor()
    assert.deepEqual(await crowd.statuses(ids), ['denied', 'pending', 'pending'])
    await visit.close()
  })

  it('a button that means something else by now is not pressed as what it was', async () => {
    const visit = await crowd.open('/sessions')
    const { page } = visit
    await page.locator('[id^="session-"]').first().getByRole('link').first().click()
    const pause = page.getByRole('button', { name: 'Pause this session' })
    await pause.waitFor()
    await page.waitForTimeout(600)
    await pause.focus()
    await pause.evaluate((button: HTMLButtonElement) => {
      button.form?.setAttribute('action', '/ui/sessions/other/resume')
      button.textContent = 'Resume this session'
    })
    await page.keyboard.press('Enter')
    await page.locator('#told', { hasText: 'has just moved' }).waitFor()
    await visit.close()
  })

  it('what the person scrolls has not moved', async () => {
    for (let more = 0; more < 4; more++) await crowd.question()
    const id = await crowd.question()
    const visit = await crowd.open('/mcp')
    const { page } = visit
    await page.waitForTimeout(600)
    await allow(page, id).evaluate((button) => button.scrollIntoView({ block: 'center' }))
    assert.ok((await page.evaluate(() => scrollY)) > 0)
    const at = await middleOf(allow(page, id))
    await page.mouse.click(at.x, at.y)
    await page.locator('.notice', { hasText: 'Allowed' }).waitFor()
    await visit.close()
  })
})
