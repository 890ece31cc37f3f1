import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Locator } from 'playwright-core'
import { noBrowser } from './chromium.ts'
import { threeSteps } from './data.ts'
import { startWorld, type World } from './world.ts'

describe('other than on a screen in our colours', { skip: noBrowser }, () => {
  let world: World
  let run: string
  before(async () => {
    world = await startWorld()
    run = await world.trace(threeSteps('one', Date.now() - 60_000))
  })
  after(() => world.close())

  /** Whether a line that is seen goes around it. */
  const isOutlined = (element: Locator): Promise<boolean> =>
    element.evaluate((one) => {
      const { outlineStyle, outlineColor } = getComputedStyle(one)
      return outlineStyle === 'solid' && outlineColor !== 'rgba(0, 0, 0, 0)'
    })

  it('what is chosen is seen where colours are forced', async () => {
    const visit = await world.open({ forcedColors: 'active' })
    await visit.to(`/replay/${run}`)
    for (const chosen of ['.bar [aria-current]', '.tabs [aria-current]', '.timeline .chosen'])
      assert.ok(await isOutlined(visit.page.locator(chosen)), chosen)
    assert.ok(!(await isOutlined(visit.page.locator('.bar a[href="/mcp"]'))))
    await visit.close()
  })

  it('a page is printed without what can only be pressed or typed into', async () => {
    const visit = await world.open()
    const { page } = visit
    await page.emulateMedia({ media: 'print' })
    for (const path of ['/replay', `/replay/${run}`, '/mcp', '/sessions', '/playground', '/policies/demo']) {
      await visit.to(path)
      for (const element of await page.locator('.filters, button, .button, .skip').all())
        assert.ok(!(await element.isVisible()), `${path}: ${await element.textContent()}`)
    }
    await visit.close()
  })
})
