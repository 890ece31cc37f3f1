import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { noBrowser } from './chromium.ts'
import { type McpCaller, mcpCaller } from './mcp-client.ts'
import { startWorld, type World } from './world.ts'

describe('/mcp', { skip: noBrowser }, () => {
  let world: World
  let caller: McpCaller
  before(async () => {
    world = await startWorld({ mcp: 'approval_timeout_seconds: 4' })
    caller = await mcpCaller(world)
  })
  after(() => world.close())

  /** Calls that reached the server behind the proxy. */
  const forwarded = (): number => world.upstream.calls('tools/call').length

  it('shows an approval without a reload; allowed once, exactly one retry goes through', async () => {
    const visit = await world.open()
    const { page } = visit
    await visit.to('/mcp')
    await page.locator('#live', { hasText: 'live' }).waitFor()
    const args = { path: 'out/report.md', content: '# Report' }
    const asked = await caller.call('write_file', args)
    assert.equal(asked.isError, true)
    const question = page.locator(`#approval-${asked.structuredContent?.approval_id}`)
    await question.waitFor()
    assert.match(await question.innerText(), /out\/report\.md/)
    assert.match(await question.locator('[data-until]').innerText(), /^0:0\d$/)
    await question.getByRole('button', { name: 'Allow once' }).click()
    await page.locator('.notice', { hasText: 'Allowed' }).waitFor()
    assert.equal(forwarded(), 0)
    assert.notEqual((await caller.call('write_file', args)).isError, true)
    assert.equal(forwarded(), 1)
    assert.equal((await caller.call('write_file', args)).isError, true)
    assert.equal(forwarded(), 1)
    await visit.close()
  })

  it('keeps the buttons near, however long the arguments are', async () => {
    const visit = await world.open()
    const asked = await caller.call('write_file', { path: 'long.md', content: 'a line\n'.repeat(150) })
    await visit.to('/mcp')
    const question = visit.page.locator(`#approval-${asked.structuredContent?.approval_id}`)
    const content = question.getByRole('group', { name: 'content' })
    assert.ok(((await question.boundingBox())?.height ?? 0) < 600)
    assert.match(await question.innerText(), /\(1050 characters\)/)
    assert.doesNotMatch(await question.innerText(), /\d k?B\b/, 'the size of what is left of it says nothing')
    await content.focus()
    await visit.page.keyboard.press('End')
    await visit.page.waitForFunction((box) => (box?.scrollTop ?? 0) > 0, await content.elementHandle())
    await question.getByRole('button', { name: 'Deny this call' }).click()
    await visit.page.locator('.notice', { hasText: 'Denied' }).waitFor()
    await visit.close()
  })

  it('denies for good', async () => {
    const visit = await world.open()
    const { page } = visit
    const args = { path: 'denied.md' }
    const asked = await caller.call('write_file', args)
    await visit.to('/mcp')
    const question = page.locator(`#approval-${asked.structuredContent?.approval_id}`)
    await question.getByLabel('Reason').fill('not this one')
    await question.getByRole('button', { name: 'Deny this call' }).click()
    await page.locator('.notice', { hasText: 'Denied' }).waitFor()
    const before = forwarded()
    assert.equal((await caller.call('write_file', args)).isError, true)
    assert.equal(forwarded(), before)
    await visit.close()
  })

  it('allows nothing when Enter ends a reason', async () => {
    const visit = await world.open()
    const { page } = visit
    const asked = await caller.call('write_file', { path: 'entered.md' })
    await visit.to('/mcp')
    const answers: (string | null)[] = []
    page.on('request', (request) => void (request.method() === 'POST' && answers.push(request.postData())))
    const question = page.locator(`#approval-${asked.structuredContent?.approval_id}`)
    await question.getByLabel('Reason').fill('no')
    await page.keyboard.press('Enter')
    await question.getByRole('button', { name: 'Deny this call' }).click()
    await page.locator('.notice', { hasText: 'Denied' }).waitFor()
    assert.equal(answers.length, 1)
    assert.match(answers[0] ?? '', /reason=no&action=deny/)
    await visit.close()
  })

  it('says what is true now where two people decide', async () => {
    const asked = await caller.call('write_file', { path: 'twice.md' })
    const id = `#approval-${asked.structuredContent?.approval_id}`
    const [first, second] = await Promise.all([world.open(), world.open()])
    await Promise.all([first.to('/mcp'), second.to('/mcp')])
    // the second page must not learn of the first one's answer
    await second.page.evaluate(() => dispatchEvent(new Event('pagehide')))
    await first.page.locator(id).getByRole('button', { name: 'Allow once' }).click()
    await first.page.locator('.notice').waitFor()
    const answered = second.page.waitForResponse((answer) => answer.request().method() === 'POST')
    await second.page.locator(id).getByRole('button', { name: 'Deny this call' }).click()
    assert.equal((await answered).status(), 409)
    await second.page.locator('h1', { hasText: 'Decided already' }).waitFor()
    await second.page.getByRole('link', { name: 'Back' }).click()
    await second.page.waitForURL('**/mcp')
    await first.close()
    await second.page.context().close()
  })

  it('names what was allowed, takes it back, and says so where it was used meanwhile', async () => {
    const args = { path: 'undone.md' }
    const asked = await caller.call('write_file', args)
    const id = `#approval-${asked.structuredContent?.approval_id}`
    const visit = await world.open()
    const { page } = visit
    await visit.to('/mcp')
    await page.locator(id).getByRole('button', { name: 'Allow once' }).click()
    await page.locator('.notice', { hasText: 'Allowed write_file of server files, arguments' }).waitFor()
    await page.locator('.notice').getByRole('button', { name: 'Undo' }).click()
    await page.locator('.notice', { hasText: 'Taken back' }).waitFor()
    assert.equal((await caller.call('write_file', args)).isError, true)
    await page.locator(id).getByRole('button', { name: 'Allow once' }).click()
    const undo = page.locator('.notice').getByRole('button', { name: 'Undo' })
    await undo.waitFor()
    // the page must not learn of the use
    await page.evaluate(() => dispatchEvent(new Event('pagehide')))
    assert.notEqual((await caller.call('write_file', args)).isError, true)
    await undo.click()
    await page.getByText('cannot be taken back').waitFor()
    await page.context().close()
  })

  it('takes the buttons away when the time is over', async () => {
    const visit = await world.open()
    const { page } = visit
    const asked = await caller.call('write_file', { path: 'late.md' })
    await visit.to('/mcp')
    const question = page.locator(`#approval-${asked.structuredContent?.approval_id}`)
    await question.getByRole('button').first().waitFor()
    await question.getByRole('button').first().waitFor({ state: 'hidden' })
    assert.equal(await question.getByRole('button').filter({ visible: true }).count(), 0)
    await visit.close()
  })

  it('shows servers, their tools, decisions with their runs, and the audit', async () => {
    await caller.call('delete_file', { path: 'a' })
    const visit = await world.open({ acceptDownloads: true })
    const { page } = visit
    await visit.to('/mcp')
    const server = page.locator('#server-files')
    assert.match(await server.innerText(), /3 tools/)
    await server.locator('summary').click()
    assert.match(await server.innerText(), /delete_file/)
    const decided = page.locator('tr', { hasText: 'never-delete' }).first()
    await decided
      .getByRole('link', { name: /show|replay/i })
      .first()
      .click()
    await page.waitForURL(/\/replay\//)
    assert.match(await page.locator('main').innerText(), /tool\.call/)
    await visit.close()
  })
})
