import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { seriousFindings } from './axe.ts'
import { noBrowser } from './chromium.ts'
import type { Visit } from './visit.ts'
import { startWorld, type World } from './world.ts'

const part = ({ page }: Visit, name: string) => page.locator(`[data-request="${name}"]`)

/** Sends, and gives the last line of state. */
const sent = async (visit: Visit): Promise<string> => {
  await visit.page.getByRole('button', { name: 'Send' }).click()
  await part(visit, 'status')
    .filter({ hasText: /^[1-9].*(?:B|body)$|^No answer/ })
    .waitFor()
  return part(visit, 'status').innerText()
}

/** A browser writes down every answer of 4xx and 5xx, and every failed request. */
const forgive = (visit: Visit): void => {
  visit.faults.splice(0, visit.faults.length, ...visit.faults.filter((text) => !/Failed to load resource/.test(text)))
}

describe('a request from /docs', { skip: noBrowser }, () => {
  let world: World
  before(async () => {
    world = await startWorld()
  })
  after(() => world.close())

  it('sends a GET and shows status, time, headers and body with every digit', async () => {
    await world.trace({ trace_id: 'run-digits', name: 'digits', start_ns: 1790000000123456789n.toString() })
    const visit = await world.open()
    await visit.to('/docs/get-api-v1-runs-trace_id?trace_id=run-digits')
    const initial = await part(visit, 'command').innerText()
    assert.match(initial, /\/api\/v1\/runs\/run-digits"$/)
    assert.match(await sent(visit), /^200 OK · \d.* · [\d.]+ k?B$/)
    assert.match(await part(visit, 'output').innerText(), /"trace_id": "run-digits"[\s\S]*1790000000123456789\b/)
    await visit.page.getByText('Headers', { exact: true }).click()
    assert.match(await part(visit, 'headers').innerText(), /content-type: application\/json/)
    assert.match(await part(visit, 'download').innerText(), /^Download [\w.-]+\.json/)
    await visit.page.getByLabel('trace_id').fill("no'such run")
    assert.match(await part(visit, 'command').innerText(), /runs\/no%27such%20run"$/)
    assert.match(await sent(visit), /^404 /)
    assert.match(await part(visit, 'output').innerText(), /"code": "\w+_NOT_FOUND"/)
    await part(visit, 'as').selectOption('guard')
    assert.match(await part(visit, 'command').innerText(), /replay show 'no'\\''such run'$/)
    forgive(visit)
    assert.deepEqual(await seriousFindings(visit.page), [])
    await visit.close()
  })

  it('sends a POST by Ctrl+Enter, and shows what is refused', async () => {
    const visit = await world.open()
    const { page } = visit
    await visit.to('/docs/post-api-v1-spans')
    const body = page.getByRole('textbox', { name: 'Body, application/json' })
    await body.press('Control+Enter')
    await part(visit, 'status')
      .filter({ hasText: /^201 Created · .*B$/ })
      .waitFor()
    await body.fill('{ "trace_id": 7, ')
    assert.match(await sent(visit), /^400 /)
    assert.match(await part(visit, 'output').innerText(), /"message"/)
    assert.match(await part(visit, 'command').innerText(), /-d '\{ "trace_id": 7, '$/)
    forgive(visit)
    await visit.close()
  })

  it('keeps a key out of the address, the storage and the command', async () => {
    const visit = await world.open()
    const { page } = visit
    await visit.to('/docs/post-v1-chat-completions')
    const key = page.getByLabel('Key, sent as')
    await key.fill('guard_wrong_key_0123456789')
    assert.match(await sent(visit), /^401 /)
    const command = part(visit, 'command')
    assert.match(await command.innerText(), /^GUARD_KEY="\$\(.* key print\)"\ncurl [\s\S]*Bearer \$GUARD_KEY"/)
    await part(visit, 'as').selectOption('fetch')
    assert.match(await command.innerText(), /Bearer \$\{process\.env\.GUARD_KEY\}/)
    assert.ok(!(await page.content()).includes('guard_wrong_key'))
    assert.equal(
      await page.evaluate(() => JSON.stringify({ ...localStorage, ...sessionStorage }).includes('wrong')),
      false,
    )
    assert.ok(!page.url().includes('wrong'))
    await page.getByLabel('with the typed keys').check()
    assert.match(await command.innerText(), /Bearer guard_wrong_key_0123456789/)
    await key.fill(world.gateway.key)
    // nobody listens at the upstream
    assert.match(await sent(visit), /^50\d /)
    forgive(visit)
    await visit.close()
  })

  it('shows a stream as it arrives until it is stopped', async () => {
    const visit = await world.open()
    await visit.to('/docs/get-api-v1-stream')
    await visit.page.getByRole('button', { name: 'Send' }).click()
    await part(visit, 'status')
      .filter({ hasText: /^200 OK/ })
      .waitFor()
    await world.trace({ trace_id: 'run-live', name: 'live' })
    await part(visit, 'output').filter({ hasText: 'run-live' }).waitFor()
    await visit.page.getByRole('button', { name: 'Stop' }).click()
    await part(visit, 'status')
      .filter({ hasText: /^200 OK · stopped after/ })
      .waitFor()
    await visit.close()
  })

  it('imports a file, and says in words that nobody answers', async () => {
    const visit = await world.open()
    const { page } = visit
    await visit.to('/docs/post-api-v1-runs-import')
    await world.trace({ trace_id: 'run-file', name: 'file' })
    const buffer = Buffer.from((await (await fetch(`${world.url}/api/v1/runs/run-file/export`)).text()) || '{}')
    assert.ok(buffer.length > 0)
    await page
      .getByLabel('File', { exact: false })
      .first()
      .setInputFiles({ name: 'run.json', mimeType: 'application/json', buffer })
    assert.match(await part(visit, 'command').innerText(), /--data-binary '@run\.json'$/)
    assert.match(await sent(visit), /^20[01] /)
    await page.route('**/api/**', (route) => route.abort('connectionrefused'))
    assert.match(await sent(visit), /^No answer from http:\/\/127\.0\.0\.1:\d+ after .* cannot be reached/)
    forgive(visit)
    await visit.close()
  })

  it('fills in the command without script, and fits a narrow window', async () => {
    const plain = await world.open({ javaScriptEnabled: false })
    await plain.to('/docs/get-api-v1-runs')
    await plain.page.getByLabel('limit').fill('5')
    await plain.page.getByRole('button', { name: 'Fill in the command' }).click()
    await plain.page.waitForURL(/limit=5/)
    assert.match(await part(plain, 'command').innerText(), /\/api\/v1\/runs\?limit=5"$/)
    await plain.close()
    const visit = await world.open({ viewport: { width: 360, height: 800 }, colorScheme: 'dark' })
    for (const id of ['get-api-v1-runs', 'post-v1-messages', 'post-api-v1-runs-import']) {
      await visit.to(`/docs/${id}`)
      assert.ok((await visit.overflow()) <= 0, id)
      assert.deepEqual(await seriousFindings(visit.page), [], id)
    }
    await visit.close()
  })
})
