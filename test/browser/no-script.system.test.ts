import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { noBrowser } from './chromium.ts'
import { threeSteps } from './data.ts'
import { mcpCaller } from './mcp-client.ts'
import type { Visit } from './visit.ts'
import { startWorld, type World } from './world.ts'

describe('without JavaScript', { skip: noBrowser }, () => {
  let world: World
  let left: string
  let right: string
  before(async () => {
    world = await startWorld()
    left = await world.trace(threeSteps('one', Date.now() - 60_000))
    right = await world.trace(threeSteps('two', Date.now() - 30_000, {}, 2))
  })
  after(() => world.close())

  const open = (more: object = {}): Promise<Visit> => world.open({ javaScriptEnabled: false, ...more })
  const run = async (id: string): Promise<Readonly<Record<string, unknown>>> => {
    const { json } = await world.api('GET', `/api/v1/runs/${id}`)
    return json.run as Readonly<Record<string, unknown>>
  }

  it('runs are looked for, filtered and opened', async () => {
    const visit = await open()
    const { page } = visit
    await visit.to('/replay')
    await page.locator('main').getByRole('searchbox').fill('wanderlust')
    await page.getByLabel('Status').selectOption('error')
    await page.getByRole('button', { name: 'Search' }).click()
    await page.waitForURL(/status=error/)
    await page.getByRole('link', { name: 'one', exact: true }).click()
    await page.waitForURL(`**/replay/${left}`)
    await page.locator('#span-s2 .pick').click()
    await page.waitForURL(/span=s2/)
    await page.locator('#details', { hasText: 'wanderlust' }).waitFor()
    await visit.close()
  })

  it('a run is pinned, tagged and given its failure tag', async () => {
    const visit = await open()
    const { page } = visit
    await visit.to('/replay')
    await page.locator(`#run-${left} .pin`).click()
    await page.locator('.notice', { hasText: 'Pinned' }).waitFor()
    assert.equal((await run(left)).pinned, true)
    await visit.to(`/replay/${left}`)
    await page.locator('#tags summary').click()
    await page.getByLabel('Tags, with commas').fill('nightly, slow')
    await page.getByRole('button', { name: 'Save tags' }).click()
    await page.locator('.notice', { hasText: 'Tags saved' }).waitFor()
    assert.deepEqual((await run(left)).tags, ['nightly', 'slow'])
    await page.locator('#failure-tag summary').click()
    await page.locator('#failure-tag select').selectOption('timeout')
    await page.getByRole('button', { name: 'Save failure tag' }).click()
    await page.locator('.notice', { hasText: 'Failure tag saved' }).waitFor()
    assert.equal((await run(left)).failure_tag, 'timeout')
    await visit.close()
  })

  it('a refused form keeps what was typed, and says why', async () => {
    const visit = await open()
    const { page } = visit
    await visit.to(`/replay/${right}`)
    await page.locator('#tags summary').click()
    const typed = 'x'.repeat(200)
    await page.getByLabel('Tags, with commas').fill(typed)
    await page.getByRole('button', { name: 'Save tags' }).click()
    await page.locator('.fault').waitFor()
    assert.equal(await page.getByLabel('Tags, with commas').inputValue(), typed)
    assert.deepEqual((await run(right)).tags, [])
    await page.context().close()
  })

  it('two runs are compared', async () => {
    const visit = await open()
    const { page } = visit
    await visit.to('/replay')
    for (const id of [left, right]) await page.locator(`#run-${id} [type="checkbox"]`).check()
    await page.getByRole('button', { name: 'Compare selected' }).click()
    await page.locator('.deltas').first().waitFor()
    await visit.close()
  })

  it('a run is exported and imported', async () => {
    const visit = await open({ acceptDownloads: true })
    const { page } = visit
    await visit.to(`/replay/${left}`)
    const begun = page.waitForEvent('download')
    await page.locator('.exports').getByRole('link', { name: 'json', exact: true }).click()
    const file = await (await begun).path()
    await visit.to('/replay')
    await page.getByRole('link', { name: 'Import file' }).click()
    await page.getByLabel('File').setInputFiles(file)
    await page.getByRole('button', { name: 'Import' }).click()
    await page.locator('.notice', { hasText: 'Imported' }).waitFor()
    await visit.close()
  })

  it('a call is approved', async () => {
    const caller = await mcpCaller(world)
    const asked = await caller.call('write_file', { path: 'a.md' })
    const visit = await open()
    await visit.to('/mcp')
    const question = visit.page.locator(`#approval-${asked.structuredContent?.approval_id}`)
    await question.getByRole('button', { name: 'Allow once' }).click()
    await visit.page.locator('.notice', { hasText: 'Allowed' }).waitFor()
    assert.notEqual((await caller.call('write_file', { path: 'a.md' })).isError, true)
    await visit.close()
  })

  it('a scenario is run, and its session paused and resumed', async () => {
    const visit = await open()
    const { page } = visit
    await visit.to('/playground')
    await page.locator('#scenario-exact-loop').getByRole('button').click()
    await page.waitForURL(/\/playground\/runs\//)
    await page.locator('.ok', { hasText: 'as expected' }).waitFor()
    await page.getByRole('link', { name: 'session', exact: true }).click()
    await page.waitForURL(/\/sessions\/ses_/)
    const id = new URL(page.url()).pathname.split('/').at(-1)
    const paused = async () =>
      ((await world.api('GET', `/api/sessions/${id}`)).json.session as { readonly paused: boolean }).paused
    await page.getByLabel('Reason').fill('enough')
    await page.getByRole('button', { name: 'Pause this session' }).click()
    await page.locator('.notice', { hasText: 'Session paused' }).waitFor()
    assert.equal(await paused(), true)
    await page.getByRole('button', { name: 'Resume this session' }).click()
    await page.locator('.notice', { hasText: 'Session resumed' }).waitFor()
    assert.equal(await paused(), false)
    await visit.close()
  })
})
