import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { seriousFindings } from './axe.ts'
import { noBrowser } from './chromium.ts'
import { allow, type Crowd, card, counted, middleOf, restOn, startCrowd } from './crowd.ts'
import { threeSteps } from './data.ts'

describe('what the pointer or the focus is on', { skip: noBrowser }, () => {
  let crowd: Crowd
  before(async () => {
    crowd = await startCrowd()
  })
  after(() => crowd.world.close())

  for (const path of ['/mcp', '/'])
    it(`${path}: an answer given elsewhere puts no other question below the pointer`, async () => {
      const ids = await crowd.three()
      const visit = await crowd.open(path)
      const { page } = visit
      const at = await restOn(page, allow(page, ids[1]))
      await crowd.answer(ids[0])
      await counted(page, 2)
      await page.mouse.click(at.x, at.y)
      await page.locator('.notice', { hasText: 'Allowed' }).waitFor()
      assert.deepEqual(await crowd.statuses(ids), ['denied', 'allowed', 'pending'])
      await visit.close()
    })

  it('a pointer that has not moved since the page before rests on what is below it', async () => {
    const ids = [...(await crowd.three()), await crowd.question(), await crowd.question()]
    const visit = await crowd.open('/mcp')
    const { page } = visit
    const at = await restOn(page, allow(page, ids[1]))
    await page.mouse.click(at.x, at.y)
    await page.locator('.notice', { hasText: 'Allowed' }).waitFor()
    await page.locator('#live', { hasText: 'live' }).waitFor()
    const below = () =>
      page.evaluate(([x, y]) => document.elementFromPoint(x ?? 0, y ?? 0)?.closest('article')?.id, [at.x, at.y])
    const before = await below()
    assert.ok(before)
    await crowd.answer(ids[0])
    await counted(page, 3)
    assert.equal(await below(), before)
    await visit.close()
  })

  it('/sessions: new sessions put no other session below the pointer', async () => {
    const visit = await crowd.open('/sessions')
    const { page } = visit
    const row = page.locator('[id^="session-"]', { hasText: 'two' })
    const id = (await row.getAttribute('id'))?.slice('session-'.length) ?? ''
    const at = await restOn(page, row.getByRole('button', { name: 'Pause' }))
    for (const name of ['four', 'five', 'six']) await crowd.request(name)
    await page.waitForTimeout(2_000)
    await page.mouse.click(at.x, at.y)
    await page.locator('.notice', { hasText: 'Session paused' }).waitFor()
    const { json } = await crowd.world.api('GET', '/api/sessions?paused=true')
    const paused = json.sessions as readonly { readonly id: string }[]
    assert.deepEqual(
      paused.map((session) => session.id),
      [id],
    )
    await visit.close()
  })

  it('/replay: new runs put no other box or star below the pointer', async () => {
    const visit = await crowd.open('/replay')
    const { page } = visit
    const row = page.locator('[id^="run-"]').nth(3)
    const id = await row.getAttribute('id')
    const at = await restOn(page, row.getByRole('checkbox'))
    await crowd.world.trace(threeSteps('one more', Date.now()))
    await page.waitForTimeout(1_500)
    await page.mouse.click(at.x, at.y)
    assert.deepEqual(
      await page
        .locator('[name="run"]:checked')
        .evaluateAll((boxes) => boxes.map((box) => `run-${box.getAttribute('value')}`)),
      [id],
    )
    await visit.close()
  })

  it('what is answered elsewhere stays in its place, says so and cannot be pressed; it goes with the pointer', async () => {
    const ids = await crowd.three()
    const visit = await crowd.open('/mcp')
    const { page } = visit
    await restOn(page, allow(page, ids[0]))
    await crowd.answer(ids[0])
    await counted(page, 2)
    assert.equal(await card(page, ids[0]).getAttribute('data-gone'), 'denied elsewhere')
    assert.equal(await card(page, ids[0]).locator('button:enabled, input:enabled:not([type="hidden"])').count(), 0)
    assert.equal(await card(page, ids[0]).isVisible(), true)
    await page.mouse.move(0, 0)
    await card(page, ids[0]).waitFor({ state: 'detached' })
    await visit.close()
  })

  it('what says so covers no words on a narrow screen, and axe finds nothing', async () => {
    const ids = await crowd.three()
    const visit = await crowd.open('/mcp', { viewport: { width: 390, height: 844 } })
    const { page } = visit
    await restOn(page, allow(page, ids[1]))
    await crowd.answer(ids[1])
    await counted(page, 2)
    await page.locator('.gone').waitFor()
    const { above, label, below } = await card(page, ids[1]).evaluate((gone) => {
      const style = getComputedStyle(gone, '::after')
      const top = gone.getBoundingClientRect().top + Number.parseFloat(style.top)
      return {
        above: gone.previousElementSibling?.lastElementChild?.getBoundingClientRect().bottom ?? 0,
        label: { top, bottom: top + Number.parseFloat(style.height) },
        below: gone.firstElementChild?.getBoundingClientRect().top ?? 0,
      }
    })
    assert.ok(above <= label.top && label.bottom <= below, JSON.stringify({ above, label, below }))
    assert.deepEqual(await seriousFindings(page), [])
    await visit.close()
  })

  it('a page that becomes shorter below the pointer does not move', async () => {
    const [first, ...below] = [...(await crowd.three()), await crowd.question(), await crowd.question()]
    const visit = await crowd.open('/mcp?tool=nothing', { viewport: { width: 1280, height: 500 } })
    const { page } = visit
    await allow(page, first).evaluate((button) => button.scrollIntoView({ block: 'start' }))
    const at = await restOn(page, allow(page, first))
    for (const id of below) await crowd.answer(id)
    await counted(page, 1)
    await card(page, below.at(-1)).waitFor({ state: 'detached' })
    assert.deepEqual(await middleOf(allow(page, first)), at)
    await visit.close()
  })

  it('a question that has its place further down by now is shown once', async () => {
    const ids = await crowd.three()
    const visit = await crowd.open('/mcp')
    const { page } = visit
    const at = await restOn(page, allow(page, ids[1]))
    await crowd.answer(ids[0], 'allow')
    await crowd.world.api('POST', `/api/v1/mcp/approvals/${ids[0]}/undo`)
    await crowd.answer(ids[2])
    await counted(page, 2)
    await card(page, ids[2]).waitFor({ state: 'detached' })
    assert.equal(await card(page, ids[0]).count(), 1)
    assert.deepEqual(await middleOf(allow(page, ids[1])), at)
    await visit.close()
  })

  it('/playground: columns stay as wide as they are, to a part of a pixel', async () => {
    const visit = await crowd.open('/playground')
    const { page } = visit
    const run = page.locator('main table button').nth(3)
    const at = await restOn(page, run)
    await crowd.request('one')
    await page.locator('main table[style]').waitFor()
    assert.deepEqual(await middleOf(run), at)
    await visit.close()
  })

  it('traffic of another run takes no expired card away from below the pointer', async () => {
    const ids = await crowd.three()
    const visit = await crowd.open('/mcp')
    const { page } = visit
    const at = await restOn(page, allow(page, ids[2]))
    const before = await card(page, ids[2]).boundingBox()
    await Promise.all([crowd.answer(ids[0], 'allow'), crowd.answer(ids[1])])
    await crowd.caller.call('read_file', { path: 'a' })
    await counted(page, 1)
    assert.deepEqual(await card(page, ids[2]).boundingBox(), before)
    await page.mouse.click(at.x, at.y)
    await page.locator('.notice', { hasText: 'Allowed' }).waitFor()
    assert.deepEqual(await crowd.statuses(ids), ['allowed', 'denied', 'allowed'])
    await visit.close()
  })

  it('new rows wait and are counted; what is below the pointer goes on; they come when they are asked for', async () => {
    const visit = await crowd.open('/sessions')
    const { page } = visit
    await restOn(page, page.locator('[id^="session-"]').nth(1).getByRole('button'))
    const first = await page.locator('[id^="session-"]').first().getAttribute('id')
    for (const name of ['seven', 'eight']) await crowd.request(name)
    await page.locator('#waits', { hasText: '2 new sessions' }).waitFor()
    assert.equal(await page.locator('[id^="session-"]').first().getAttribute('id'), first)
    assert.match(await page.locator('[id^="session-"]').first().innerText(), /\d/)
    await page.locator('#waits').click()
    await page.locator('[id^="session-"]', { hasText: 'eight' }).waitFor()
    assert.equal(await page.locator('#waits').isVisible(), false)
    await visit.close()
  })

  it('rows above the pointer are brought up to date where nothing moves thereby', async () => {
    const visit = await crowd.open('/sessions')
    const { page } = visit
    const row = page.locator('[id^="session-"]', { hasText: 'eight' })
    await restOn(page, page.locator('[id^="session-"]').nth(3).getByRole('button'))
    await crowd.request('eight')
    await row
      .locator('td', { hasText: /^2( of|$| requests)/ })
      .first()
      .waitFor()
    await visit.close()
  })

  it('the focus stays where it is, and Enter acts on that alone', async () => {
    const ids = await crowd.three()
    const visit = await crowd.open('/mcp')
    const { page } = visit
    await page.mouse.move(0, 0)
    await allow(page, ids[1]).focus()
    await crowd.answer(ids[0])
    await counted(page, 2)
    assert.equal(await allow(page, ids[1]).evaluate((button) => button === document.activeElement), true)
    await page.keyboard.press('Enter')
    await page.locator('.notice', { hasText: 'Allowed' }).waitFor()
    assert.deepEqual(await crowd.statuses(ids), ['denied', 'allowed', 'pending'])
    await visit.close()
  })

  it('Enter and Space do nothing where what had the focus is answered elsewhere', async () => {
    const ids = await crowd.three()
    const visit = await crowd.open('/')
    const { page } = visit
    await page.mouse.move(0, 0)
    await allow(page, ids[1]).focus()
    await crowd.answer(ids[1])
    await counted(page, 2)
    await page.keyboard.press('Enter')
    await page.keyboard.press('Space')
    await page.waitForTimeout(700)
    await page.keyboard.press('Enter')
    await page.waitForTimeout(300)
    assert.deepEqual(await crowd.statuses(ids), ['pending', 'denied', 'pending'])
    await visit.close()
  })

  it('p pins nothing that nobody stands on', async () => {
    const visit = await crowd.open('/replay')
    await visit.page.keyboard.press('p')
    await visit.page.waitForTimeout(300)
    assert.equal(new URL(visit.page.url()).search, '')
    await visit.close()
  })
})
