import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { seriousFindings } from './axe.ts'
import { noBrowser } from './chromium.ts'
import { allow, type Crowd, restOn, startCrowd } from './crowd.ts'

describe('what needs a person', { skip: noBrowser }, () => {
  let crowd: Crowd
  before(async () => {
    crowd = await startCrowd()
  })
  after(() => crowd.world.close())

  const loop = async (session: string): Promise<string> => {
    for (let turn = 0; turn < 5; turn++) await crowd.request(session)
    const { json } = await crowd.world.api('GET', `/api/sessions/${session}`)
    return (json.session as { readonly id: string }).id
  }

  it('a loop that begins puts no other question below the pointer', async () => {
    const ids = await crowd.three()
    const visit = await crowd.open('/')
    const { page } = visit
    const at = await restOn(page, allow(page, ids[1]))
    await loop('circle')
    await page.locator('#waits', { hasText: 'new' }).waitFor()
    await page.mouse.click(at.x, at.y)
    await page.locator('.notice', { hasText: 'Allowed' }).waitFor()
    assert.deepEqual(await crowd.statuses(ids), ['pending', 'allowed', 'pending'])
    await page.locator('.need', { hasText: 'circle' }).waitFor()
    await visit.close()
  })

  it('a loop that is paused elsewhere stays in its place, says so, and cannot be pressed', async () => {
    const id = await loop('round')
    const visit = await crowd.open('/')
    const { page } = visit
    const line = page.locator(`#loop-${id}`)
    await restOn(page, line.getByRole('button', { name: 'Pause' }))
    await crowd.world.api('POST', `/api/sessions/${id}/pause`)
    await crowd.request('other')
    await page.locator(`#loop-${id}.gone`).waitFor()
    assert.equal(await line.getAttribute('data-gone'), 'paused or reset elsewhere')
    assert.equal(await line.locator('button:enabled').count(), 0)
    await page.mouse.move(0, 0)
    await line.waitFor({ state: 'detached' })
    await page.locator(`#waiting-${id}`).waitFor()
    await visit.close()
  })

  for (const colorScheme of ['light', 'dark'] as const)
    it(`fits every width, and axe finds nothing (${colorScheme})`, async () => {
      for (const width of [390, 1024, 1440]) {
        const visit = await crowd.open('/', { viewport: { width, height: 844 }, colorScheme })
        const { page } = visit
        await page.locator('.need').first().waitFor()
        assert.equal(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true, `${width}`)
        assert.deepEqual(await seriousFindings(page), [], `${width}`)
        await visit.close()
      }
    })
})
