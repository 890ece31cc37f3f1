import assert from 'node:assert/strict'
import type { BrowserContextOptions, Locator, Page } from 'playwright-core'
import { threeSteps } from './data.ts'
import { type McpCaller, mcpCaller } from './mcp-client.ts'
import type { Visit } from './visit.ts'
import { startWorld, type World } from './world.ts'

/** Where the middle of something is, on the screen. */
export const middleOf = async (target: Locator): Promise<{ readonly x: number; readonly y: number }> => {
  const box = await target.boundingBox()
  assert.ok(box)
  return { x: box.x + box.width / 2, y: box.y + box.height / 2 }
}

/** Rests the pointer on something, as somebody does who thinks before clicking. */
export const restOn = async (page: Page, target: Locator): Promise<{ readonly x: number; readonly y: number }> => {
  await target.scrollIntoViewIfNeeded()
  const at = await middleOf(target)
  await page.mouse.move(at.x, at.y)
  return at
}

export const card = (page: Page, id = ''): Locator => page.locator(`#approval-${id}`)
export const allow = (page: Page, id = ''): Locator => card(page, id).getByRole('button', { name: 'Allow once' })
/** A page whose bar says by now that so many questions wait. */
export const counted = (page: Page, count: number): Promise<void> =>
  page.locator('.bar .count', { hasText: String(count) }).waitFor()

/** A gateway whose questions, sessions and runs come and go while pages are looked at. */
export class Crowd {
  readonly world: World
  readonly caller: McpCaller
  #asked = 0

  constructor(world: World, caller: McpCaller) {
    this.world = world
    this.caller = caller
  }

  /** A question of a call that is like the others but for its path. */
  async question(): Promise<string> {
    const { structuredContent } = await this.caller.call('write_file', { path: `file-${++this.#asked}.md` })
    return String(structuredContent?.approval_id)
  }

  /** Three questions, and none beside them. */
  async three(): Promise<readonly string[]> {
    await this.answerAll()
    return [await this.question(), await this.question(), await this.question()]
  }

  answer(id = '', action = 'deny'): Promise<unknown> {
    return this.world.api('POST', `/api/v1/mcp/approvals/${id}`, { action })
  }

  async answerAll(): Promise<void> {
    const { json } = await this.world.api('GET', '/api/v1/mcp/approvals?status=pending')
    for (const { id } of json.approvals as readonly { readonly id: string }[]) await this.answer(id)
  }

  statuses(ids: readonly string[]): Promise<unknown[]> {
    return Promise.all(ids.map(async (id) => (await this.world.api('GET', `/api/v1/mcp/approvals/${id}`)).json.status))
  }

  /** A request of a session of this name; the first begins it. */
  async request(session: string): Promise<void> {
    await fetch(`${this.world.url}/v1/messages`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-api-key': this.world.gateway.key,
        'x-guard-session-id': session,
      },
      body: '{"model":"m","max_tokens":8,"messages":[{"role":"user","content":"hello"}]}',
    })
  }

  /** A live page whose buttons can be pressed. */
  async open(path: string, options: BrowserContextOptions = {}): Promise<Visit> {
    const visit = await this.world.open(options)
    await visit.to(path)
    await visit.page.locator('#live', { hasText: 'live' }).waitFor()
    // what has just come cannot be pressed yet
    await visit.page.locator('main button:not([aria-disabled], [hidden])').first().waitFor()
    return visit
  }
}

export const startCrowd = async (): Promise<Crowd> => {
  const world = await startWorld()
  const crowd = new Crowd(world, await mcpCaller(world))
  for (let run = 0; run < 6; run++) await world.trace(threeSteps(`run ${run}`, Date.now() - 60_000))
  for (const name of ['one', 'two', 'three']) await crowd.request(name)
  return crowd
}
