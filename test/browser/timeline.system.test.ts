import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { noBrowser } from './chromium.ts'
import { at, longRun, threeSteps } from './data.ts'
import { startWorld, type World } from './world.ts'

const HOUR_MS = 3_600_000

describe('the timeline', { skip: noBrowser }, () => {
  let world: World
  const start = Date.now() - 3 * HOUR_MS
  before(async () => {
    world = await startWorld()
  })
  after(() => world.close())

  it('opens, chooses and scrolls to the span of a link, and copies that link', async () => {
    const id = await world.trace(longRun(300, start))
    const visit = await world.open({ permissions: ['clipboard-read', 'clipboard-write'] })
    const { page } = visit
    await visit.to(`/replay/${id}?span=s250#span-s250`)
    const row = page.locator('#span-s250')
    assert.equal(await row.locator('[aria-current]').count(), 1)
    const box = await row.boundingBox()
    assert.ok(box !== null && box.y >= 0 && box.y < 800, `the row is at ${box?.y}`)
    await page.locator('#details').getByRole('button', { name: 'Copy link' }).click()
    await page.locator('#told', { hasText: 'Copied' }).waitFor()
    assert.equal(
      await page.evaluate(() => navigator.clipboard.readText()),
      `${world.url}/replay/${id}?span=s250#span-s250`,
    )
    await visit.close()
  })

  it('shows what a run is beside the span of a link where there is room for both', async () => {
    const attributes = Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`attribute_${at}`, at]))
    const spans = [{ id: 'last', name: 'tool.call', start_ns: at(start, 0), end_ns: at(start, 5), attributes }]
    const id = await world.trace({ name: 'with much to tell', spans })
    const visit = await world.open()
    await visit.to(`/replay/${id}?span=last#span-last`)
    for (const seen of [visit.page.getByRole('heading', { level: 1 }), visit.page.locator('#details h2')])
      assert.ok(((await seen.boundingBox())?.y ?? -1) >= 0)
    await visit.close()
  })

  it('keeps the span that was chosen in all that leads on from it', async () => {
    const id = await world.trace(threeSteps('choosing', start))
    const visit = await world.open()
    const { page } = visit
    await visit.to(`/replay/${id}`)
    await page.locator('#span-s2 .pick').click()
    await page.locator('#details', { hasText: 'read_file' }).waitFor()
    await page.getByRole('link', { name: 'Events' }).click()
    await page.waitForURL(/view=events/)
    await page.getByRole('link', { name: 'Timeline' }).click()
    await page.locator('#span-s2.chosen').waitFor()
    await page.locator('#span-s1 .pick').click()
    await page.locator('#details', { hasText: 'small-model' }).waitFor()
    await page.getByRole('button', { name: 'Pin' }).click()
    await page.waitForURL(/notice=run-pinned/)
    assert.equal(await page.locator('#timeline .chosen').getAttribute('id'), 'span-s1')
    await visit.close()
  })

  it('keeps rows closed over a reload', async () => {
    const id = await world.trace(threeSteps('closing', start))
    const visit = await world.open()
    const { page } = visit
    await visit.to(`/replay/${id}`)
    assert.equal(await page.locator('#span-s2').count(), 1)
    await page.locator('#span-s1 .fold').click()
    await page.locator('#span-s2').waitFor({ state: 'detached' })
    await page.reload()
    assert.equal(await page.locator('#span-s2').count(), 0)
    assert.equal(await page.locator('#span-s1 .fold').getAttribute('aria-expanded'), 'false')
    await page.locator('#span-s1 .fold').click()
    await page.locator('#span-s2').waitFor()
    await visit.close()
  })

  it('finds, and dims what does not match', async () => {
    const id = await world.trace(threeSteps('finding', start))
    const visit = await world.open()
    const { page } = visit
    await visit.to(`/replay/${id}`)
    await page.locator('#tools .find input[type="search"]').fill('wanderlust')
    await page.keyboard.press('Enter')
    await page.waitForURL(/find=wanderlust/)
    await page.locator('#span-s3.dim').waitFor()
    assert.equal(await page.locator('#span-s2.dim').count(), 0)
    assert.match((await page.locator('#details').innerText()) ?? '', /tool\.call/)
    await visit.close()
  })

  it('lets a run grow without losing order, choice, focus or typed text', async () => {
    const id = await world.trace({
      name: 'growing',
      status: 'running',
      spans: [
        { id: 'a', name: 'tool.call', start_ns: at(Date.now(), 0), end_ns: at(Date.now(), 5) },
        { id: 'b', name: 'command.exec', status: 'running', start_ns: at(Date.now(), 10) },
      ],
    })
    const visit = await world.open()
    const { page } = visit
    await visit.to(`/replay/${id}?span=a`)
    await page.locator('#live', { hasText: 'live' }).waitFor()
    const field = page.locator('#tools .find input[type="search"]')
    await field.pressSequentially('half a wor')
    await world.trace({ trace_id: id, spans: [{ id: 'c', name: 'tool.call', start_ns: at(Date.now(), 20) }] })
    await page.locator('#span-c').waitFor()
    await world.trace({
      trace_id: id,
      spans: [{ id: 'b', name: 'command.exec', status: 'error', end_ns: at(Date.now(), 30) }],
    })
    await page.locator('#span-b', { hasText: 'error' }).waitFor()
    const order = await page.locator('#timeline tbody tr').evaluateAll((rows) => rows.map((row) => row.id))
    assert.deepEqual(order.slice(1), ['span-a', 'span-b', 'span-c'])
    assert.equal(await field.inputValue(), 'half a wor')
    assert.equal(await field.evaluate((element) => element === document.activeElement), true)
    assert.equal(await page.locator('#span-a [aria-current]').count(), 1)
    await visit.close()
  })

  it('shows the rows of a range, and in the virtual list those alone', async () => {
    const id = await world.trace(longRun(6_000, start))
    const visit = await world.open()
    const { page } = visit
    const ids = () => page.locator('#timeline tr[id]').evaluateAll((rows) => rows.map((row) => row.id))
    await visit.to(`/replay/${id}?from=30000000000&to=30100000000`)
    const few = await ids()
    assert.ok(few.includes('span-s3001') && few.length < 20, String(few))
    await visit.to(`/replay/${id}?from=10000000000&to=40000000000`)
    assert.equal((await ids()).length, 300)
    await page.locator('#load-all', { hasText: 'Load all 3,00' }).click()
    await page.locator('#timeline .spacer').first().waitFor({ state: 'attached' })
    assert.deepEqual((await ids()).slice(1, 3), ['span-s1000', 'span-s1001'])
    await page.keyboard.press('End')
    await page.locator('#span-s4000').waitFor()
    assert.equal(await page.locator('#span-s4003').count(), 0)
    await page.keyboard.press('0')
    await page.waitForURL((url) => !url.searchParams.has('from'))
    await page.locator('#span-s0').waitFor()
    await visit.close()
  })

  it('leaves the search of the bar alone', async () => {
    const id = await world.trace(threeSteps('searched', start))
    const visit = await world.open()
    const { page } = visit
    await visit.to(`/replay/${id}`)
    await page.locator('.bar input[type="search"]').fill('nothing like it')
    await page.keyboard.press('Enter')
    await page.waitForURL(/\/search\?q=nothing/)
    await visit.close()
  })

  it('of thirty thousand spans draws what is seen; the last is reached by scrolling, and by keys', async () => {
    const last = 29_999
    const { spans, ...run } = longRun(last + 1, start, 'say\u202etxt\u{e0041}')
    // a body holds not all of them
    const id = await world.trace({ ...run, spans: spans.slice(0, 10_000) })
    for (let from = 10_000; from <= last; from += 10_000)
      await world.trace({ trace_id: id, spans: spans.slice(from, from + 10_000) })
    const visit = await world.open()
    const { page } = visit
    const rows = page.locator('#timeline tbody tr')
    /** Elements of the page, and of them those that are rows. */
    const bounded = async (): Promise<void> => {
      assert.ok((await rows.count()) < 200, `${await rows.count()} rows`)
      const elements = await page.locator('*').count()
      assert.ok(elements < 2_500, `${elements} elements`)
    }
    await visit.to(`/replay/${id}`)
    assert.equal(await rows.count(), 300)
    await page.locator('#load-all').click()
    await page.waitForFunction((count) => document.documentElement.scrollHeight > count * 25, last)
    assert.match(await page.locator('#span-s0').innerText(), /^sayU\+202EtxtU\+E0041#1/)
    await bounded()

    await page.mouse.move(400, 600)
    await page.mouse.wheel(0, 400_000)
    await page.locator('#span-s0').waitFor({ state: 'detached' })
    await bounded()
    await page.keyboard.press('End')
    const end = page.locator(`#span-s${last}`)
    await end.waitFor()
    await bounded()
    for (let steps = 0; steps < 100; steps++) {
      await page.keyboard.press('j')
      if ((await page.locator('.at').getAttribute('id')) === `span-s${last}`) break
    }
    assert.equal(await end.evaluate((row) => row.contains(document.activeElement)), true)
    await page.keyboard.press('Enter')
    await page.waitForURL(new RegExp(`span=s${last}`))
    await page.locator('#details', { hasText: `tool ${last}` }).waitFor()
    await bounded()
    await visit.close()
  })
})
