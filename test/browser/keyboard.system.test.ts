import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { noBrowser } from './chromium.ts'
import { at, threeSteps } from './data.ts'
import { mcpCaller } from './mcp-client.ts'
import { startWorld, type World } from './world.ts'

const press = async (page: Page, ...keys: readonly string[]): Promise<void> => {
  for (const key of keys) await page.keyboard.press(key)
}

describe('by keyboard alone', { skip: noBrowser }, () => {
  let world: World
  const ids: string[] = []
  before(async () => {
    world = await startWorld()
    for (const [index, name] of ['older', 'newer'].entries())
      ids.push(await world.trace(threeSteps(name, Date.now() - 60_000 + index * 1000)))
  })
  after(() => world.close())

  it('finds a run and opens it', async () => {
    const visit = await world.open()
    const { page } = visit
    await visit.to('/replay')
    await press(page, '/')
    await page.keyboard.type('older')
    await press(page, 'Enter')
    await page.waitForURL(/q=older/)
    await press(page, 'j')
    await page.locator('[data-row].at').waitFor()
    await press(page, 'Enter')
    await page.waitForURL(`**/replay/${ids[0]}`)
    assert.equal(await page.locator('h1').innerText(), 'older')
    await visit.close()
  })

  it('chooses two and compares them', async () => {
    const visit = await world.open()
    const { page } = visit
    await visit.to('/replay')
    await press(page, 'j', 'x', 'j', 'x', 'k')
    assert.equal(await page.locator('[name="run"]:checked').count(), 2)
    await press(page, 'c')
    await page.waitForURL(/\/replay\/compare\?run=/)
    await visit.close()
  })

  it('compares what was ticked with the mouse', async () => {
    const visit = await world.open()
    const { page } = visit
    await visit.to('/replay')
    for (const at of [0, 1]) await page.locator('[name="run"]').nth(at).click()
    await press(page, 'c')
    await page.waitForURL(/\/replay\/compare\?run=/)
    await visit.close()
  })

  it('pins the run that is stood on', async () => {
    const visit = await world.open()
    const { page } = visit
    await visit.to('/replay')
    await press(page, 'j', 'j', 'p')
    await page.waitForURL(/notice=run-pinned/)
    const { json } = await world.api('GET', '/api/v1/runs?pinned=true')
    assert.deepEqual(
      (json.runs as readonly { readonly trace_id: string }[]).map(({ trace_id }) => trace_id),
      [ids[0]],
    )
    await visit.close()
  })

  it('goes from page to page', async () => {
    const visit = await world.open()
    const { page } = visit
    await visit.to('/replay')
    const entries = await page
      .locator('.bar nav a')
      .evaluateAll((links) =>
        links.map((link) => [link.getAttribute('data-key') ?? '', link.getAttribute('href') ?? ''] as const),
      )
    assert.ok(entries.length >= 5)
    // the page one is on comes last: that its address is reached would say nothing
    const others = entries.filter(([, path]) => path !== '/replay' && path !== '/docs')
    for (const [key, path] of [...others, ...entries.filter(([, path]) => path === '/replay')]) {
      await press(page, 'g', key)
      await page.waitForURL(`**${path}`)
    }
    await visit.close()
  })

  it('steps through matches and errors of a timeline, closes and opens rows', async () => {
    const visit = await world.open()
    const { page } = visit
    await visit.to(`/replay/${ids[0]}`)
    await press(page, '/')
    await page.keyboard.type('wanderlust')
    await press(page, 'Enter')
    await page.waitForURL(/find=/)
    await press(page, 'Escape', 'n')
    await page.locator('#span-s2 [aria-current]').waitFor()
    await press(page, 'e')
    await page.locator('#span-s3 [aria-current]').waitFor()
    await press(page, '[')
    await page.locator('#span-s2').waitFor({ state: 'detached' })
    await press(page, ']')
    await page.locator('#span-s2').waitFor()
    await visit.close()
  })

  it('stands on the match that it stepped to, so that arrows close and open that row', async () => {
    const calls = [1, 2, 3].flatMap((number) => [
      { id: `m${number}`, name: 'gen_ai.request', start_ns: at(Date.now(), 4 * number) },
      { id: `t${number}`, parent_id: `m${number}`, name: 'tool.call', start_ns: at(Date.now(), 4 * number + 1) },
    ])
    const id = await world.trace({ name: 'three of a kind', spans: calls })
    const visit = await world.open()
    const { page } = visit
    const isAt = async (row: string) => {
      await page.locator(`#${row}.chosen.at`).waitFor()
      assert.deepEqual(await page.locator('[data-row].at').evaluateAll((rows) => rows.map((one) => one.id)), [row])
      assert.equal(await page.evaluate(() => document.activeElement?.closest('tr')?.id), row)
    }
    const hurry = await page.addInitScript(() => {
      addEventListener('load', () => {
        document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'n', bubbles: true }))
      })
    })
    await visit.to(`/replay/${id}?find=gen_ai.request`)
    await isAt('span-m2')
    await hurry.dispose()
    await press(page, 'n')
    await isAt('span-m3')
    await press(page, 'ArrowLeft')
    await page.locator('#span-t3').waitFor({ state: 'detached' })
    assert.equal(await page.locator('#span-t1').count(), 1)
    await isAt('span-m3')
    await press(page, 'b')
    await isAt('span-m2')
    await press(page, 'k')
    assert.equal(await page.locator('#span-t1.at').count(), 1)
    await visit.to(`/replay/${id}?span=m2#span-m2`)
    await press(page, 'j')
    assert.equal(await page.locator('#span-t2.at').count(), 1)
    await visit.close()
  })

  it('approves a call', async () => {
    const caller = await mcpCaller(world)
    const asked = await caller.call('write_file', { path: 'typed.md' })
    const visit = await world.open()
    const { page } = visit
    await visit.to('/replay')
    await press(page, 'g', 'm')
    await page.waitForURL('**/mcp')
    const allow = page
      .locator(`#approval-${asked.structuredContent?.approval_id}`)
      .getByRole('button', { name: 'Allow once' })
    await allow.waitFor()
    for (let step = 0; step < 60; step++) {
      if (await allow.evaluate((button) => button === document.activeElement)) break
      await press(page, 'Tab')
    }
    await press(page, 'Enter')
    await page.locator('.notice', { hasText: 'Allowed' }).waitFor()
    assert.notEqual((await caller.call('write_file', { path: 'typed.md' })).isError, true)
    await visit.close()
  })

  it('lists the keys, and leaves the list again', async () => {
    const visit = await world.open()
    const { page } = visit
    await visit.to('/replay')
    await press(page, '?')
    await page.getByRole('dialog').waitFor()
    await press(page, 'j')
    assert.equal(await page.locator('[data-row].at').count(), 0)
    await press(page, 'Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await visit.close()
  })

  it('does nothing while something is typed, or with another key held', async () => {
    const visit = await world.open()
    const { page } = visit
    await visit.to('/replay')
    await page.locator('main').getByRole('searchbox').focus()
    await page.keyboard.type('gm jxpc?/')
    assert.equal(await page.locator('main').getByRole('searchbox').inputValue(), 'gm jxpc?/')
    assert.equal(await page.locator('[data-row].at, :checked:not(option), dialog[open]').count(), 0)
    await press(page, 'Escape', 'Control+j', 'Alt+j', 'Meta+j')
    assert.equal(await page.locator('[data-row].at').count(), 0)
    assert.equal(new URL(page.url()).pathname, '/replay')
    await visit.close()
  })

  it('reaches everything by Tab, and shows where it is', async () => {
    const visit = await world.open()
    const { page } = visit
    await visit.to('/replay')
    await press(page, 'Tab')
    assert.equal(await page.evaluate(() => document.activeElement?.className), 'skip')
    for (let step = 0; step < 12; step++) {
      await press(page, 'Tab')
      const outline = await page.evaluate(() => {
        const { outlineStyle, outlineWidth } = getComputedStyle(document.activeElement ?? document.body)
        return outlineStyle !== 'none' && outlineWidth !== '0px'
      })
      assert.ok(outline, `no outline at step ${step}`)
    }
    await visit.close()
  })
})
