import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { noBrowser } from './chromium.ts'
import { allow, Crowd } from './crowd.ts'
import { threeSteps } from './data.ts'
import { mcpCaller } from './mcp-client.ts'
import { startWorld } from './world.ts'

/** What people come for, and how few steps it takes them. A click, a choice and a text with Enter are one step each. */
describe('tasks, in at most three steps', { skip: noBrowser }, () => {
  let crowd: Crowd
  let blockedId = ''
  const provider = createServer((request, response) => {
    request.resume().on('end', () => {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(
        '{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"hi"}],"stop_reason":"end_turn","usage":{"input_tokens":9,"output_tokens":1}}',
      )
    })
  })
  before(async () => {
    provider.listen(0, '127.0.0.1')
    await once(provider, 'listening')
    const world = await startWorld({ provider: `http://127.0.0.1:${(provider.address() as AddressInfo).port}` })
    crowd = new Crowd(world, await mcpCaller(world))
    for (let request = 0; request < 6; request++) await crowd.request('burning')
    const rule = { id: 'exact_repeat', rule_type: 'exact_repeat', threshold: 3, window_size: 8, action: 'block' }
    const { status, json } = await world.api('PUT', '/api/policies/default', { mode: 'enforce', rules: [rule] })
    assert.equal(status, 200, JSON.stringify(json))
    const blocked = await fetch(`${crowd.world.url}/v1/messages`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-api-key': crowd.world.gateway.key,
        'x-guard-session-id': 'burning',
      },
      body: '{"model":"m","max_tokens":8,"messages":[{"role":"user","content":"hello"}]}',
    })
    assert.equal(blocked.status, 429)
    blockedId = blocked.headers.get('x-guard-request-id') ?? ''
    const now = Date.now()
    const repeated = (at: number) => ({ id: `r${at}`, name: 'command.exec', attributes: { command: 'npm test' } })
    await crowd.world.trace(
      threeSteps('rounding', now - 60_000, { trace_id: 'good', task_id: 'cart', status: 'ok', agent_name: 'fixer' }),
    )
    await crowd.world.trace(
      threeSteps('rounding', now - 30_000, {
        trace_id: 'slow',
        task_id: 'cart',
        status: 'timeout',
        agent_name: 'fixer',
        spans: [repeated(0), repeated(1), repeated(2)],
      }),
    )
  })
  after(async () => {
    await crowd?.world.close()
    provider.close()
  })

  const task = (name: string, path: string, steps: readonly ((page: Page) => Promise<unknown>)[], seen: RegExp) =>
    it(name, async () => {
      assert.ok(steps.length <= 3)
      const visit = await crowd.open(path)
      for (const step of steps) await step(visit.page)
      await visit.page.waitForFunction(
        ([source = '']) => new RegExp(source).test(document.querySelector('main')?.innerText ?? ''),
        [seen.source],
      )
      await visit.close()
    })
  const click = (name: string | RegExp) => (page: Page) =>
    page.locator('main').getByRole('link', { name }).first().click()
  const press = (name: string) => (page: Page) => page.locator('main').getByRole('button', { name }).first().click()

  task(
    'sees which loop burns most, and why',
    '/',
    [click('Evidence')],
    /LOOP_EXACT[\s\S]*identical requests[\s\S]*exact_repeat/,
  )
  task(
    'finds the most expensive loop since yesterday',
    '/replay?since=yesterday',
    [click('Loops'), click('Cost')],
    /burning/,
  )
  task(
    'finds why a request was blocked by its id, and lets the agent go on',
    '/replay',
    [
      async (page) => {
        await page.getByRole('search', { name: 'Everything' }).getByRole('searchbox').fill(blockedId)
        await page.keyboard.press('Enter')
        await page.waitForURL(/\/replay\/\w+\?span=/)
      },
      async (page) => {
        // a button that has just come cannot be pressed yet
        await page.locator('main button:not([aria-disabled], [hidden])').first().waitFor()
        await press('Reset loop rules')(page)
      },
    ],
    /reset/i,
  )
  it('approves a call that it can judge', async () => {
    const [id = ''] = await crowd.three()
    const visit = await crowd.open('/mcp')
    await allow(visit.page, id).click()
    await visit.page.locator('.notice').waitFor()
    assert.deepEqual(await crowd.statuses([id]), ['allowed'])
    await visit.close()
  })
  task(
    'compares a good run with a bad one of its task',
    '/replay/slow',
    [
      click(/^Compare with/),
      // runs of the same task come first
      (page) => page.locator('main table').getByRole('link', { name: 'rounding' }).first().click(),
    ],
    /They part at step \d/,
  )
  task(
    'lists the runs of an agent that timed out',
    '/replay',
    [
      (page) => page.getByLabel('Agent', { exact: true }).fill('fixer'),
      (page) => page.getByLabel('Status').selectOption('timeout'),
      press('Search'),
    ],
    /rounding[\s\S]*fixer/,
  )
  task('sees trends by agent', '/', [click('30 d'), click('agent')], /Last 30 days[\s\S]*Requests[\s\S]*Latency/)
})
