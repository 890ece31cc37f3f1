import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { seriousFindings } from './axe.ts'
import { noBrowser } from './chromium.ts'
import { type Crowd, startCrowd } from './crowd.ts'

const chart = (page: Page, id = 'requests') => page.locator(`#chart-${id} svg`)

/** A point of a chart, from its left edge to its right one. */
const pointOf = async (page: Page, share: number, id = 'requests') => {
  const box = await chart(page, id).boundingBox()
  assert.ok(box)
  return { x: box.x + box.width * share, y: box.y + box.height / 2 }
}

const shiftOf = (page: Page): Promise<number> =>
  page.evaluate(
    () =>
      new Promise<number>((done) => {
        let sum = 0
        const observer = new PerformanceObserver((list) => {
          for (const entry of list.getEntries()) sum += (entry as unknown as { value: number }).value
        })
        observer.observe({ type: 'layout-shift', buffered: true })
        setTimeout(() => done(sum), 300)
      }),
  )

describe('charts', { skip: noBrowser }, () => {
  let crowd: Crowd
  before(async () => {
    crowd = await startCrowd()
  })
  after(() => crowd.world.close())

  it('are read without script: a bar is a link to its time, and so is a row of the table', async () => {
    const visit = await crowd.world.open({ javaScriptEnabled: false })
    const { page } = visit
    for (const [id, how] of [
      ['requests', 'the first chart'],
      ['latency', 'the last one'],
    ] as const) {
      await visit.to('/')
      const { x, y } = await pointOf(page, 0.99, id)
      const clip = { x: x - 3, y: y - 20, width: 1, height: 1 }
      const plain = await page.screenshot({ clip })
      await page.mouse.move(x, y)
      assert.notDeepEqual(await page.screenshot({ clip }), plain, 'the bar below the pointer is marked')
      await page.mouse.click(x, y)
      await page.waitForURL(/\/replay\?since=[^&]+Z&until=/)
      assert.ok(page.url().includes('since='), how)
    }
    await visit.to('/')
    await page.getByText('Figures as a table').click()
    await page.locator('.charted tbody a').last().click()
    await page.waitForURL(/\/replay\?since=/)
    assert.ok((await page.locator('[id^="run-"]').count()) > 0)
    await visit.close()
  })

  it('tell the figures below the pointer, also after the page has been updated', async () => {
    const visit = await crowd.open('/sessions')
    const { page } = visit
    await visit.to('/')
    await page.locator('#live', { hasText: 'live' }).waitFor()
    const { x, y } = await pointOf(page, 0.99, 'latency')
    await page.mouse.move(x - 3, y)
    await page.mouse.move(x, y)
    const readout = page.locator('#readout')
    await readout.filter({ hasText: /\d+ requests · \d+ flagged/ }).waitFor()
    const bands = await page.locator('.charts .band').evaluateAll((all) => all.map((one) => getComputedStyle(one).fill))
    assert.equal(bands.length, 5)
    assert.ok(bands.every((fill) => fill !== 'none' && fill !== 'rgba(0, 0, 0, 0)'))
    const before = await page.locator('#chart-requests strong').innerText()
    await crowd.request('four')
    await page
      .locator('#chart-requests strong')
      .filter({ hasNotText: new RegExp(`^${before}$`) })
      .waitFor()
    assert.match(await readout.innerText(), /\d+ requests/)
    await page.mouse.move(5, 5)
    await readout.filter({ hasText: /^$/ }).waitFor({ state: 'attached' })
    await visit.close()
  })

  it('choose the time of the list by a drag, and keep its filters', async () => {
    const visit = await crowd.world.open()
    const { page } = visit
    await visit.to('/replay?sort=cost&range=24h')
    const [from, to] = [await pointOf(page, 4.5 / 24, 'tokens'), await pointOf(page, 20.5 / 24, 'tokens')]
    await page.mouse.move(to.x, to.y)
    await page.mouse.down()
    await page.mouse.move(from.x + 20, from.y + 90, { steps: 3 })
    await page.mouse.move(from.x, from.y)
    await page.mouse.up()
    await page.waitForURL(/since=/)
    const query = new URL(page.url()).searchParams
    const hours = (Date.parse(query.get('until') ?? '') - Date.parse(query.get('since') ?? '')) / 3_600_000
    assert.deepEqual([hours, query.get('sort'), query.has('range')], [17, 'cost', false])
    await visit.close()
  })

  it('end a drag beyond their edge at it', async () => {
    const visit = await crowd.world.open()
    const { page } = visit
    await visit.to('/')
    const { x, y } = await pointOf(page, 22.5 / 24)
    await page.mouse.move(x, y)
    await page.mouse.down()
    await page.mouse.move(x + 300, y + 200, { steps: 3 })
    await page.mouse.up()
    await page.waitForURL(/\/replay\?since=/)
    const query = new URL(page.url()).searchParams
    const hours = (Date.parse(query.get('until') ?? '') - Date.parse(query.get('since') ?? '')) / 3_600_000
    assert.equal(hours, 2)
    await visit.close()
  })

  it('follow no link at the end of a drag that was given up', async () => {
    const visit = await crowd.world.open()
    const { page } = visit
    await visit.to('/')
    const { x, y } = await pointOf(page, 0.5)
    await page.mouse.move(x, y)
    await page.mouse.down()
    await page.mouse.move(x + 30, y)
    await page.keyboard.press('Escape')
    await page.mouse.up()
    await page.waitForTimeout(200)
    assert.equal(new URL(page.url()).pathname, '/')
    await visit.close()
  })

  for (const path of ['/?group=agent&range=30d', '/replay?since=1h'])
    it(`are accessible and stand still on ${path}, down to 390 px`, async () => {
      const visit = await crowd.world.open()
      const { page } = visit
      for (const width of [1440, 1024, 390]) {
        await page.setViewportSize({ width, height: 900 })
        await visit.to(path)
        assert.ok((await shiftOf(page)) < 0.02, `shifts at ${width} px`)
        assert.ok((await visit.overflow()) <= 0, `wider than ${width} px`)
        for (const colorScheme of ['light', 'dark'] as const) {
          await page.emulateMedia({ colorScheme })
          assert.deepEqual(await seriousFindings(page), [], `${width} px, ${colorScheme}`)
        }
      }
      await page.evaluate(() => {
        for (const part of document.querySelectorAll('details')) part.open = true
      })
      assert.deepEqual(await seriousFindings(page), [], 'with the table')
      assert.ok((await visit.overflow()) <= 0, 'with the table')
      await visit.close()
    })

  it('tell their colours apart from the page, in light and dark', async () => {
    const visit = await crowd.world.open()
    const { page } = visit
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      await visit.to('/')
      const least = await page.evaluate(() => {
        const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true })
        const luminance = (colour: string): number => {
          if (canvas === null) return Number.NaN
          canvas.fillStyle = colour
          canvas.fillRect(0, 0, 1, 1)
          const [red = 0, green = 0, blue = 0] = [...canvas.getImageData(0, 0, 1, 1).data].map((value) => {
            const share = value / 255
            return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
          })
          return 0.2126 * red + 0.7152 * green + 0.0722 * blue
        }
        const ground = luminance(getComputedStyle(document.body).backgroundColor)
        const item = document.createElement('li')
        const list = document.createElement('ul')
        list.className = 'legend'
        list.append(item)
        document.body.append(list)
        const tones = ['allow', 'flag', 'block', 'tone0', 'tone1', 'tone2', 'tone3', 'tone4', 'rest', 'p50', 'p95']
        return tones.map((tone) => {
          item.className = `key ${tone}`
          const one = luminance(getComputedStyle(item, '::before').backgroundColor)
          return (Math.max(one, ground) + 0.05) / (Math.min(one, ground) + 0.05)
        })
      })
      for (const contrast of least) assert.ok(contrast >= 3, `${colorScheme}: ${least.map((one) => one.toFixed(1))}`)
    }
    await visit.close()
  })
})
