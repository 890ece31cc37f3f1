import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { noBrowser } from './chromium.ts'
import { type Crowd, startCrowd } from './crowd.ts'
import { type McpCaller, mcpCaller } from './mcp-client.ts'

const NAMES = ['read_file', 'write_file', 'delete_file']

describe('definitions that wait for trust', { skip: noBrowser }, () => {
  let crowd: Crowd
  let caller: McpCaller
  const described = new Map<string, string>()
  let round = 0

  before(async () => {
    crowd = await startCrowd()
    crowd.world.upstream.answering = ({ message }, response) => {
      if (message?.method !== 'tools/list') return false
      const tools = NAMES.map((name) => ({
        name,
        description: described.get(name) ?? '',
        inputSchema: { type: 'object' },
      }))
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ jsonrpc: '2.0', id: message.id, result: { tools } }))
      return true
    }
  })
  after(() => crowd.world.close())
  beforeEach(async () => {
    round++
    for (const name of NAMES) await describedAs(name, `round ${round}`)
  })

  /** The server says something else of a tool, and a client hears it. */
  const describedAs = async (name: string, words: string): Promise<void> => {
    described.set(name, words)
    caller = await mcpCaller(crowd.world)
  }
  const trust = (name: string) => crowd.world.api('POST', '/api/v1/mcp/servers/files/pins', { tools: [name] })
  const traffic = () => caller.call('read_file', { path: 'a' })
  const chosen = (page: Page): Promise<readonly string[]> =>
    page.locator('[name="tools"]:checked').evaluateAll((boxes) => boxes.map((box) => box.getAttribute('value') ?? ''))
  const choose = async (page: Page, name: string): Promise<void> => {
    await page.getByRole('checkbox', { name, exact: true }).check()
    await page.getByRole('heading', { name: 'MCP' }).click()
    await page.mouse.move(0, 0)
  }

  it('a choice goes with its definition when somebody else trusts that', async () => {
    const visit = await crowd.open('/mcp')
    const { page } = visit
    await choose(page, 'read_file')
    await trust('read_file')
    await traffic()
    await page.getByRole('checkbox', { name: 'read_file', exact: true }).waitFor({ state: 'detached' })
    assert.deepEqual(await chosen(page), [])
    await visit.close()
  })

  it('what has changed again is not chosen any more', async () => {
    const visit = await crowd.open('/mcp')
    const { page } = visit
    await choose(page, 'write_file')
    await choose(page, 'delete_file')
    const seen = await page.locator('[name="seen"]').nth(1).getAttribute('value')
    await describedAs('write_file', 'other words')
    await traffic()
    await page.locator(`[value="${seen}"]`).waitFor({ state: 'detached' })
    assert.deepEqual(await chosen(page), ['delete_file'])
    await visit.close()
  })

  it('who comes back to the page finds no choice in the place of another', async () => {
    const visit = await crowd.open('/mcp')
    const { page } = visit
    await choose(page, 'read_file')
    await visit.to('/docs')
    await trust('read_file')
    await page.goBack()
    await page.getByRole('checkbox', { name: 'write_file', exact: true }).waitFor()
    assert.deepEqual(await chosen(page), [])
    await visit.close()
  })
})
