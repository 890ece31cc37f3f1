import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { noBrowser } from './chromium.ts'
import { threeSteps } from './data.ts'
import { startWorld, type World } from './world.ts'

const rowsOf = (page: Page): Promise<readonly string[]> =>
  page.locator('.runs tbody tr').evaluateAll((rows) => rows.map(({ id }) => id))

describe('the list of runs', { skip: noBrowser }, () => {
  let world: World
  const base = Date.now() - 3_600_000
  before(async () => {
    world = await startWorld({ backend: 'sqlite' })
    await world.trace({
      name: 'needle',
      project_id: 'haystack',
      status: 'ok',
      spans: [{ name: 'tool.call', attributes: { note: 'a xylophone' } }],
    })
    for (let at = 0; at < 24; at++)
      await world.trace(
        threeSteps(
          `run ${at}`,
          base + at * 1000,
          { project_id: at % 2 === 0 ? 'even' : 'odd', status: at % 3 === 0 ? 'error' : 'ok' },
          at + 1,
        ),
      )
  })
  after(() => world.close())

  it('finds a run by a word inside an attribute of a span', async () => {
    const visit = await world.open()
    await visit.to('/replay')
    await visit.page.locator('main').getByRole('searchbox').fill('xylophone')
    await visit.page.keyboard.press('Enter')
    await visit.page.waitForURL(/q=xylophone/)
    const names = await visit.page.locator('.runs tbody th').allInnerTexts()
    assert.equal(names.length, 1)
    assert.match(names[0] ?? '', /needle/)
    await visit.close()
  })

  it('stays where it is when one of its runs is pinned', async () => {
    const visit = await world.open({ viewport: { width: 1280, height: 400 } })
    const { page } = visit
    await visit.to('/replay')
    const row = page.locator('.runs tbody tr').last()
    const id = await row.getAttribute('id')
    await row.getByRole('button', { name: /^Pin run \d+$|^Pin needle$/ }).click()
    await page.waitForURL(/notice=run-pinned/)
    const place = await page.locator(`#${id}`).boundingBox()
    const head = await page.locator('.runs thead tr').boundingBox()
    assert.ok(place !== null && head !== null && place.y >= head.y + head.height - 1, 'not below the head of the table')
    assert.ok(place.y + place.height <= 400, `at ${place.y}`)
    await page.keyboard.press('Tab')
    assert.equal(await page.evaluate(() => document.activeElement?.closest('tr')?.id), id)
    await visit.close()
  })

  it('combines filters, and shows the same rows by address, reload and Back', async () => {
    const visit = await world.open()
    const { page } = visit
    await visit.to('/replay')
    const all = await rowsOf(page)
    await page.getByLabel('Project').fill('even')
    await page.getByLabel('Status').selectOption('error')
    await page.getByRole('button', { name: 'Search' }).click()
    await page.waitForURL(/project_id=even/)
    const narrowed = await rowsOf(page)
    assert.equal(narrowed.length, 4)
    const address = page.url()
    await page.reload()
    assert.deepEqual(await rowsOf(page), narrowed)
    await page.locator('.runs tbody th a').first().click()
    await page.waitForURL(/\/replay\/[0-9a-f]/)
    await page.goBack()
    assert.deepEqual(await rowsOf(page), narrowed)
    await page.goBack()
    assert.deepEqual(await rowsOf(page), all)
    await visit.to(address.slice(world.url.length))
    assert.deepEqual(await rowsOf(page), narrowed)
    await page.getByRole('link', { name: 'Clear' }).click()
    assert.deepEqual(await rowsOf(page), all)
    await visit.close()
  })

  it('sorts by duration, either way', async () => {
    const visit = await world.open()
    const { page } = visit
    await visit.to('/replay?project_id=odd&sort=duration')
    const falling = await rowsOf(page)
    assert.equal(await page.locator('[aria-sort="descending"]').innerText(), 'Duration ↓')
    await page.getByRole('link', { name: 'Duration' }).click()
    await page.waitForURL(/order=asc/)
    assert.deepEqual(await rowsOf(page), falling.toReversed())
    await visit.close()
  })

  it('repeats none and leaves none out from page to page, while runs arrive', async () => {
    const visit = await world.open()
    const { page } = visit
    await visit.to('/replay?limit=5')
    const there = await (await fetch(`${world.url}/api/v1/runs?limit=100`)).json()
    const wanted = (there as { readonly runs: readonly { readonly trace_id: string }[] }).runs.map(
      ({ trace_id }) => `run-${trace_id}`,
    )
    const seen = [...(await rowsOf(page))]
    const first = page.url()
    const older = page.getByRole('link', { name: 'older' })
    for (let arrived = 0; (await older.count()) > 0; arrived++) {
      await world.trace({ name: `arrived ${arrived}`, status: 'ok' })
      await older.click()
      await page.waitForURL((url) => !seen.includes(url.href) && url.searchParams.has('cursor'))
      await page.waitForLoadState()
      seen.push(...(await rowsOf(page)))
    }
    assert.deepEqual(seen, wanted)
    const newer = page.getByRole('link', { name: /newer|newest/ })
    while ((await newer.count()) > 0) await newer.click()
    assert.equal(new URL(page.url()).searchParams.get('cursor'), new URL(first).searchParams.get('cursor'))
    await visit.close()
  })

  it('a page behind a cursor stands still, and says how many came before it', async () => {
    const visit = await world.open()
    const { page } = visit
    await visit.to('/replay?limit=5&project_id=odd')
    await page.getByRole('link', { name: 'older' }).click()
    await page.waitForURL(/cursor=/)
    await page.locator('#live', { hasText: 'live' }).waitFor()
    const there = await rowsOf(page)
    assert.equal(await page.locator('#news').isVisible(), false)
    const first = await world.trace({ name: 'new 1', project_id: 'odd', status: 'ok' })
    await page.locator('#news', { hasText: /^1 new run$/ }).waitFor()
    const newer = world.trace({ name: 'new 2', project_id: 'odd', status: 'ok' })
    const [second] = await Promise.all([newer, world.trace({ name: 'elsewhere', project_id: 'even' })])
    await page.locator('#news', { hasText: '2 new runs' }).waitFor()
    assert.deepEqual(await rowsOf(page), there)
    await page.getByRole('link', { name: '2 new runs' }).click()
    await page.waitForURL((url) => !url.searchParams.has('cursor'))
    assert.deepEqual(new Set((await rowsOf(page)).slice(0, 2)), new Set([`run-${first}`, `run-${second}`]))
    assert.equal(await page.locator('#news').count(), 0)
    await visit.close()
  })
})
