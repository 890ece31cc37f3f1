import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { seriousFindings } from './axe.ts'
import { noBrowser } from './chromium.ts'
import { seed } from './data.ts'
import { startWorld, type World } from './world.ts'

type Seeded = Awaited<ReturnType<typeof seed>>

/** Every page there is, by what it shows; the status if it is not 200. */
const pages: readonly (readonly [name: string, path: (data: Seeded) => string, status?: number])[] = [
  ['what is going on now', () => '/'],
  ['runs', () => '/replay'],
  ['runs that are looked for', () => '/replay?q=wanderlust&status=error'],
  ['no run that fits', () => '/replay?q=nothinglikeit'],
  ['runs of a session', ({ session }) => `/replay?session_id=${session}`],
  ['a run', ({ left }) => `/replay/${left}`],
  ['a run that looped', ({ looped }) => `/replay/${looped}`],
  ['a run that failed, and why', ({ left }) => `/replay/${left}?span=s3`],
  ['models and tools of a run', ({ left }) => `/replay/${left}?view=use`],
  ['a span of a run', ({ left }) => `/replay/${left}?span=s2`],
  ['events of a run', ({ left }) => `/replay/${left}?view=events`],
  ['files of a run', ({ left }) => `/replay/${left}?view=artifacts`],
  ['a run as it is kept', ({ left }) => `/replay/${left}?view=raw`],
  ['two runs', ({ left, right }) => `/replay/compare?left=${left}&right=${right}`],
  ['a run to compare with', ({ left }) => `/replay/compare?left=${left}`],
  ['import', () => '/replay/import'],
  ['MCP', () => '/mcp'],
  ['sessions', () => '/sessions'],
  ['a session', ({ session }) => `/sessions/${session}`],
  ['policies', () => '/policies'],
  ['an agent of runs', () => '/agents/coder'],
  ['a policy', ({ project }) => `/policies/${project}`],
  ['the playground', () => '/playground'],
  ['a run of the playground', ({ run }) => `/playground/runs/${run}`],
  ['the API', () => '/docs'],
  ['an operation', () => '/docs/post-api-v1-traces'],
  ['the guide', () => '/docs/guide'],
  ['a search of the guide', () => '/docs/guide?q=budget'],
  ['a page of the guide', () => '/docs/guide/detectors'],
  ['rules in the guide', () => '/docs/guide/rules'],
  ['what is not there', () => '/nowhere', 404],
]

/** Where pictures of all pages are put, for people to look at; nowhere if absent. */
const album = process.env.GUARD_SCREENSHOTS

/** A page in four widths and both schemes. */
const photographed = async (page: Page, name: string): Promise<void> => {
  if (album === undefined) return
  for (const colorScheme of ['light', 'dark'] as const)
    for (const width of [360, 768, 1280, 1920]) {
      await page.emulateMedia({ colorScheme })
      await page.setViewportSize({ width, height: 900 })
      await page.screenshot({
        path: join(album, `${name.replaceAll(' ', '-')}-${width}-${colorScheme}.png`),
        fullPage: true,
      })
    }
}

/** Words in these elements that go on in another line, though one could hold them. */
const brokenWords = (elements: readonly Element[]): readonly string[] => {
  const broken: string[] = []
  for (const element of elements) {
    const texts = document.createTreeWalker(element, NodeFilter.SHOW_TEXT)
    while (texts.nextNode() !== null) {
      const { currentNode } = texts
      for (const { 0: word, index } of (currentNode.textContent ?? '').matchAll(/\w{2,24}/g)) {
        const range = document.createRange()
        range.setStart(currentNode, index)
        range.setEnd(currentNode, index + word.length)
        if (new Set([...range.getClientRects()].map(({ top }) => top)).size > 1) broken.push(word)
      }
    }
  }
  return broken
}

describe('every page', { skip: noBrowser }, () => {
  let world: World
  let data: Seeded
  before(async () => {
    world = await startWorld()
    data = await seed(world)
  })
  after(() => world.close())

  for (const [name, path, status = 200] of pages) {
    it(`${name}: one heading, nothing inline, accessible, light and dark, from 360 px on`, async () => {
      const visit = await world.open()
      const { page } = visit
      await visit.to(path(data), status)
      assert.equal(await page.locator('h1').count(), 1)
      assert.match(await page.title(), /\S.* · Guard$/)
      // what may not stand in a paragraph ends it, and its own end begins an empty one
      assert.equal(await page.locator('p:empty:not([id])').count(), 0)
      const text = await (await fetch(world.url + path(data), { headers: { accept: 'text/html' } })).text()
      assert.doesNotMatch(text, /<style|\sstyle=|<script(?![^>]*\ssrc=)|\son[a-z]+=/)
      assert.ok(Buffer.byteLength(text) < 60_000, `${Buffer.byteLength(text)} bytes`)
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
        // only colours differ in the dark
        const rules = colorScheme === 'dark' ? [['color-contrast']] : []
        assert.deepEqual(await seriousFindings(page, ...rules), [], colorScheme)
      }
      for (const width of [360, 700, 768, 900, 950, 1024, 1100, 1280]) {
        await page.setViewportSize({ width, height: 800 })
        assert.ok((await visit.overflow()) <= 0, `wider than ${width} px by ${await visit.overflow()}`)
      }
      await photographed(visit.page, name)
      // what lies side by side on a wide page lies close below one another
      await page.setViewportSize({ width: 360, height: 800 })
      await page.emulateMedia({ colorScheme: 'light' })
      await page.evaluate(() => {
        for (const part of document.querySelectorAll('details')) part.open = true
      })
      assert.deepEqual(await seriousFindings(page, ['target-size', 'link-in-text-block']), [], '360 px')
      await visit.close()
    })
  }

  it('words of narrow tables stay whole', async () => {
    for (const scenario of ['mcp-size', 'mcp-sql', 'mcp-shell']) await world.play(scenario)
    const visit = await world.open()
    const { page } = visit
    for (const width of [360, 390, 412]) {
      await page.setViewportSize({ width, height: 800 })
      for (const path of ['/', '/mcp', '/sessions', '/replay', '/playground']) {
        await visit.to(path)
        assert.deepEqual(await page.locator('.stacks td').evaluateAll(brokenWords), [], `${path}, ${width} px`)
      }
    }
    await visit.close()
  })

  it('tables stay tables down to 700 px, with what sorts them, and are cards below', async () => {
    const visit = await world.open()
    const { page } = visit
    await visit.to('/replay')
    for (const width of [1440, 1099, 900, 700]) {
      await page.setViewportSize({ width, height: 800 })
      for (const name of ['Time', 'Duration', 'Cost'])
        assert.ok(await page.locator('thead').getByRole('link', { name }).isVisible(), `${name} at ${width} px`)
      const [first, second] = await page.locator('tbody tr:first-child > :is(td:nth-child(2), th)').all()
      const [left, right] = [await first?.boundingBox(), await second?.boundingBox()]
      assert.ok((left?.x ?? 0) < (right?.x ?? 0) && Math.abs((left?.y ?? 0) - (right?.y ?? 9)) < 8, `${width} px`)
    }
    await page.setViewportSize({ width: 699, height: 800 })
    assert.equal(await page.locator('thead').getByRole('link', { name: 'Cost' }).isVisible(), false)
    await visit.close()
  })

  it('meters pass below the head of their table', async () => {
    const visit = await world.open()
    const { page } = visit
    await page.setViewportSize({ width: 1280, height: 240 })
    await visit.to('/sessions')
    const head = page.locator('.sessions thead th').nth(4)
    const meter = page.locator('.sessions meter').first()
    const [top, from] = [await head.boundingBox(), await meter.boundingBox()]
    assert.ok(top !== null && from !== null)
    await page.evaluate((by) => {
      document.body.style.paddingBottom = '2000px'
      scrollBy(0, by)
    }, from.y - 4)
    const spot = await meter.boundingBox()
    assert.ok(spot !== null)
    const seen = await page.evaluate(({ x, y }) => document.elementFromPoint(x, y)?.closest('thead, meter')?.tagName, {
      x: spot.x + spot.width / 2,
      y: spot.y + spot.height / 2,
    })
    assert.equal(seen, 'THEAD')
    await visit.close()
  })

  it('is accessible with an agent, a used budget and runs of MCP, in every width', async () => {
    const { json } = await world.api('POST', '/api/agents', { id: 'nightly-fixer', name: 'Fixes at night' })
    assert.ok(json.agent !== undefined)
    const budget = {
      rule_type: 'max_requests',
      id: 'daily',
      threshold: 4,
      action: 'block',
      params: { per: 'day', scope: 'agent' },
    }
    assert.equal((await world.api('PUT', '/api/policies/shop', { rules: [budget] })).status, 200)
    for (let at = 0; at < 4; at++)
      await fetch(`${world.url}/v1/chat/completions`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${world.gateway.key}`,
          'content-type': 'application/json',
          'x-guard-project-id': 'shop',
          'x-guard-session-id': 'night-shift',
          'x-guard-agent-id': 'nightly-fixer',
        },
        body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: `part ${at}` }] }),
      })
    await world.play('mcp-confirm')
    const visit = await world.open()
    const { page } = visit
    for (const path of ['/sessions/night-shift', '/agents/nightly-fixer', '/sessions', '/replay', '/']) {
      await visit.to(path)
      for (const width of [390, 700, 1024, 1440]) {
        await page.setViewportSize({ width, height: 900 })
        assert.deepEqual(await seriousFindings(page), [], `${path} at ${width} px`)
        assert.ok((await visit.overflow()) <= 0, `${path} is wider than ${width} px by ${await visit.overflow()}`)
      }
    }
    await visit.to('/replay')
    const suggested = (name: string) =>
      page.locator(`input[name="${name}"]`).evaluate((field) => {
        const { list } = field as HTMLInputElement
        return [...(list?.options ?? [])].map(({ value }) => value)
      })
    assert.ok((await suggested('agent')).includes('nightly-fixer'))
    assert.ok((await suggested('project_id')).includes('shop'))
    assert.notDeepEqual(await suggested('model'), [])
    await visit.close()
  })

  it('sessions with long names fit into every window', async () => {
    const { json } = await world.api('POST', '/api/agents', { name: 'a', project_id: 'a-project-of-some-length' })
    const { id } = (json.agent ?? json) as { readonly id: string }
    for (let at = 0; at < 3; at++)
      await fetch(`${world.url}/v1/chat/completions`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${world.gateway.key}`,
          'content-type': 'application/json',
          'x-guard-project-id': 'a-project-of-some-length',
          'x-guard-session-id': `0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f${at}`,
          'x-guard-agent-id': id,
        },
        body: '{"model":"m","messages":[]}',
      })
    const visit = await world.open()
    for (const path of ['/', '/sessions']) {
      await visit.to(path)
      for (const width of [1280, 1100, 1099, 1050, 1049, 950, 949, 800, 700, 360]) {
        await visit.page.setViewportSize({ width, height: 800 })
        assert.ok((await visit.overflow()) <= 0, `${path} is wider than ${width} px by ${await visit.overflow()}`)
      }
    }
    await visit.close()
  })
})
