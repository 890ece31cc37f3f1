import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { seriousFindings } from './axe.ts'
import { noBrowser } from './chromium.ts'
import { startWorld, type World } from './world.ts'

interface Described {
  readonly paths: Readonly<Record<string, Readonly<Record<string, object>>>>
}

describe('/docs', { skip: noBrowser }, () => {
  let world: World
  before(async () => {
    world = await startWorld()
  })
  after(() => world.close())

  it('lists every operation of /openapi.json, finds one without script, and leads to what it says', async () => {
    const { json } = await world.api('GET', '/openapi.json')
    const { paths } = json as unknown as Described
    const visit = await world.open({ javaScriptEnabled: false })
    const { page } = visit
    await visit.to('/docs')
    const count = Object.values(paths).flatMap((operations) => Object.keys(operations)).length
    assert.equal(await page.locator('[data-row]').count(), count)
    await page.locator('main').getByRole('searchbox').fill('compare runs')
    await page.getByRole('button', { name: 'Search' }).click()
    await page.waitForURL(/q=compare/)
    await page.getByRole('link', { name: '/api/v1/compare' }).click()
    await page.waitForURL('**/docs/post-api-v1-compare')
    assert.match(await page.locator('main').innerText(), /trace_ids[\s\S]*Responses[\s\S]*deltas\.duration_ns/)
    await visit.close()
  })

  it('shows the largest of them accessibly, and without sideways scroll from 360 px on', async () => {
    const visit = await world.open()
    const { page } = visit
    for (const id of ['post-api-v1-traces', 'post-api-v1-runs-import', 'get-api-v1-runs', 'get-api-v1-mcp-events']) {
      await visit.to(`/docs/${id}`)
      assert.deepEqual(await seriousFindings(page), [], id)
      for (const width of [1280, 360]) {
        await page.setViewportSize({ width, height: 800 })
        assert.ok((await visit.overflow()) <= 0, `${id} is wider than ${width} px by ${await visit.overflow()}`)
      }
    }
    await visit.close()
  })

  it('finds a part of the guide without script, and goes from page to page and to the heading', async () => {
    const visit = await world.open({ javaScriptEnabled: false })
    const { page } = visit
    await visit.to('/docs')
    await page.getByRole('link', { name: /^Guide:/ }).click()
    await page.waitForURL('**/docs/guide')
    await page.locator('main').getByRole('searchbox').fill('cool-downs circuits')
    await page.locator('main').getByRole('button', { name: 'Search' }).click()
    await page.waitForURL(/q=cool/)
    await page.locator('mark').first().waitFor()
    await page.getByRole('link', { name: /Several keys, cool-downs/ }).click()
    await page.waitForURL('**/docs/guide/upstream#h-several-keys-cool-downs-and-circuits')
    await page.locator('#h-several-keys-cool-downs-and-circuits').waitFor()
    await visit.close()
  })

  it('goes through the guide by keys, and to it from the field in the bar', async () => {
    const visit = await world.open()
    const { page } = visit
    await visit.to('/docs/guide')
    await page.keyboard.press('j')
    await page.keyboard.press('j')
    await page.keyboard.press('Enter')
    await page.waitForURL('**/docs/guide/concepts')
    await page.locator('.find input').fill('LOOP_TOOL_CALL')
    await page.keyboard.press('Enter')
    await page.waitForURL('**/docs/guide/error-codes#h-loop_tool_call')
    await visit.close()
  })

  it('shows every page of the guide accessibly, and without sideways scroll', async () => {
    const visit = await world.open()
    const { page } = visit
    await visit.to('/docs/guide')
    const paths = await page
      .locator('.guide [data-row] a')
      .evaluateAll((links) => links.map((link) => link.getAttribute('href') ?? ''))
    assert.ok(paths.length >= 64, `${paths.length} pages`)
    for (const path of paths) {
      await visit.to(path)
      assert.deepEqual(await seriousFindings(page), [], path)
      for (const width of [1280, 720, 360]) {
        await page.setViewportSize({ width, height: 800 })
        assert.ok((await visit.overflow()) <= 0, `${path} is wider than ${width} px by ${await visit.overflow()}`)
      }
    }
    await visit.close()
  })
})
