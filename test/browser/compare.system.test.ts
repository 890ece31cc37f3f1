import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { noBrowser } from './chromium.ts'
import { threeSteps } from './data.ts'
import { startWorld, type World } from './world.ts'

/** The rows of the table of sums: name, left, right, difference. */
const sumsOf = (page: Page): Promise<readonly (readonly string[])[]> =>
  page
    .locator('.deltas')
    .first()
    .locator('tbody tr')
    .evaluateAll((rows) =>
      rows.map((row) => [...row.querySelectorAll('th, td')].map((cell) => (cell as HTMLElement).innerText.trim())),
    )

describe('comparing two runs', { skip: noBrowser }, () => {
  let world: World
  let quick: string
  let slow: string
  before(async () => {
    world = await startWorld()
    const now = Date.now()
    quick = await world.trace(threeSteps('quick', now - 60_000))
    slow = await world.trace(threeSteps('slow', now - 30_000, { status: 'ok' }, 3))
  })
  after(() => world.close())

  it('begins with two that are chosen in the list', async () => {
    const visit = await world.open()
    const { page } = visit
    await visit.to('/replay')
    for (const id of [quick, slow]) await page.locator(`#run-${id} [type="checkbox"]`).check()
    await page.getByRole('button', { name: 'Compare selected' }).click()
    await page.waitForURL(/\/replay\/compare/)
    // the list shows the newer one above; what came first stands left
    assert.match(await page.getByLabel('Left').innerText(), /quick/)
    assert.match(await page.getByLabel('Right').innerText(), /slow/)
    await visit.close()
  })

  it('says what the API says, and the opposite when the sides are swapped', async () => {
    const { json } = await world.api('POST', '/api/v1/compare', { left: quick, right: slow })
    const { duration_ns } = (json as { readonly deltas: { readonly duration_ns: number } }).deltas
    assert.equal(duration_ns, 1_800_000_000)
    const visit = await world.open()
    const { page } = visit
    await visit.to(`/replay/compare?left=${quick}&right=${slow}`)
    const there = await sumsOf(page)
    assert.match(
      there.find(([name]) => name === 'Duration')?.join(' ') ?? JSON.stringify(there),
      /900 ms 2\.7 s 1\.8 s slower/,
    )
    await page.getByRole('link', { name: 'Swap sides' }).click()
    await page.waitForURL((url) => url.searchParams.get('left') === slow)
    const back = await sumsOf(page)
    assert.match(back.find(([name]) => name === 'Duration')?.join(' ') ?? '', /2\.7 s 900 ms 1\.8 s faster/)
    for (const [index, [name, left, right]] of there.entries()) {
      assert.deepEqual(back[index]?.slice(0, 3), [name, right, left])
    }
    await visit.close()
  })

  it('filters rows by links', async () => {
    const visit = await world.open()
    const { page } = visit
    await visit.to(`/replay/compare?left=${quick}&right=${slow}`)
    assert.match(await page.locator('main').innerText(), /tool\.call#1/)
    for (const chip of ['Changed', 'Slower', 'Only left', 'Only right', 'All']) {
      await page.getByLabel('Rows').getByRole('link', { name: chip }).click()
      await page.waitForLoadState()
      assert.match((await page.getByLabel('Rows').locator('[aria-current]').innerText()) ?? '', new RegExp(chip))
    }
    await visit.close()
  })

  it('lets the other one be chosen, and says what is not there', async () => {
    const visit = await world.open()
    const { page } = visit
    await visit.to(`/replay/compare?left=${quick}`)
    await page.locator('main').getByRole('link', { name: 'slow' }).click()
    await page.waitForURL(new RegExp(`right=${slow}`))
    await visit.to(`/replay/compare?left=${quick}&right=absent`, 404)
    assert.equal(await page.locator('h1').innerText(), 'Not found')
    await visit.close()
  })
})
