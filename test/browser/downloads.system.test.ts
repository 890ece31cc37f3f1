import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, before, describe, it } from 'node:test'
import { noBrowser } from './chromium.ts'
import { threeSteps } from './data.ts'
import { startWorld, type World } from './world.ts'

const SECRET = 'sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGH'

describe('files', { skip: noBrowser }, () => {
  let world: World
  let id: string
  before(async () => {
    world = await startWorld()
    id = await world.trace(
      threeSteps('to be taken along', Date.now() - 60_000, {
        attributes: { authorization: `Bearer ${SECRET}`, api_key: SECRET, note: `the key is ${SECRET}, keep it` },
      }),
    )
  })
  after(() => world.close())

  for (const format of ['json', 'jsonl', 'otel']) {
    it(`${format}: valid, without the secret, and imported again an equal run`, async () => {
      const visit = await world.open({ acceptDownloads: true })
      const { page } = visit
      await visit.to(`/replay/${id}`)
      const begun = page.waitForEvent('download')
      await page.locator('.exports').getByRole('link', { name: format, exact: true }).click()
      const download = await begun
      assert.match(download.suggestedFilename(), /^[A-Za-z0-9._-]+$/)
      const file = await download.path()
      const text = await readFile(file, 'utf8')
      assert.ok(!text.includes(SECRET.slice(0, 24)))
      for (const piece of format === 'jsonl' ? text.trim().split('\n') : [text]) JSON.parse(piece)

      await visit.to('/replay/import')
      await page
        .getByLabel('File')
        .setInputFiles({ name: download.suggestedFilename(), mimeType: 'application/json', buffer: Buffer.from(text) })
      await page.getByRole('button', { name: 'Import' }).click()
      await page.waitForURL(/notice=/)
      await page.locator('.notice', { hasText: 'Imported' }).waitFor()
      const { json } = await world.api('GET', '/api/v1/runs?limit=1')
      const [imported] = json.runs as readonly Readonly<Record<string, unknown>>[]
      const { json: first } = await world.api('GET', `/api/v1/runs/${id}`)
      const original = first.run as Readonly<Record<string, unknown>>
      assert.notEqual(imported?.trace_id, id)
      for (const same of [
        'name',
        'project_id',
        'agent_name',
        'status',
        'failure_tag',
        'start_ns',
        'end_ns',
        'span_count',
        'event_count',
      ])
        assert.deepEqual(imported?.[same], original[same], same)
      await visit.to(`/replay/${String(imported?.trace_id)}`)
      assert.equal(await page.locator('#timeline tbody tr').count(), 4)
      await visit.close()
    })
  }

  it('a secret that was sent in is on no page', async () => {
    const visit = await world.open()
    for (const path of [
      '/replay',
      `/replay/${id}`,
      `/replay/${id}?view=raw`,
      `/replay/${id}?view=events`,
      `/replay/compare?left=${id}&right=${id}`,
    ]) {
      await visit.to(path)
      const text = await visit.page.content()
      assert.ok(!text.includes(SECRET.slice(0, 24)), path)
    }
    await visit.close()
  })

  it('a file that is none is refused in words', async () => {
    const visit = await world.open()
    const { page } = visit
    await visit.to('/replay/import')
    await page
      .getByLabel('File')
      .setInputFiles({ name: 'a.json', mimeType: 'application/json', buffer: Buffer.from('no JSON') })
    const answered = page.waitForResponse((answer) => answer.request().method() === 'POST')
    await page.getByRole('button', { name: 'Import' }).click()
    const status = (await answered).status()
    assert.ok(status >= 400 && status < 500, String(status))
    await page.waitForLoadState()
    assert.equal(await page.locator('h1').count(), 1)
    await page.context().close()
  })
})
