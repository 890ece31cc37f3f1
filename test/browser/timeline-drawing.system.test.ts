import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { noBrowser } from './chromium.ts'
import { at, longRun, threeSteps } from './data.ts'
import { rowTexts } from './row-texts.ts'
import type { Visit } from './visit.ts'
import { startWorld, type World } from './world.ts'

const HOUR_MS = 3_600_000

/** Where a bar lies in its lane, in percent of it, as it is drawn. */
const drawn = (visit: Visit, span: string) =>
  visit.page.locator(`[id="span-${span}"] svg.lane`).evaluate((lane) => {
    const [box, bar] = [lane, lane.querySelector('rect')].map((one) => one?.getBoundingClientRect())
    const whole = box?.width ?? 1
    return { x: (((bar?.x ?? 0) - (box?.x ?? 0)) / whole) * 100, width: ((bar?.width ?? 0) / whole) * 100 }
  })

const lengths_ns = [0, 999, 1_234, 9_960_000, 412_500_000, 59_960_000_000, 61_000_000_000, 7_230_000_000_000]
const statuses = ['ok', 'error', 'timeout', 'blocked', 'cancelled', 'constructor']
const decisions = ['allow', 'block', 'shadow_flag', 'rate_limit']

/** One of many spans of which hardly two are alike. */
const oddSpan = (index: number) => {
  const start_ns = at(Date.now() - 3 * HOUR_MS, index * 7_000)
  const end_ns = String(BigInt(start_ns) + BigInt(lengths_ns[index % 8] ?? 0))
  const tool = index % 5 === 0 ? 'שלום \u202e'.repeat(12) : `tool ${index}`
  return {
    id: `s${index}`,
    name: index % 9 === 0 ? `${'a long name '.repeat(6)}${index}` : 'tool.call',
    ...(index % 3 === 0 ? {} : { parent_id: `s${index - (index % 3)}` }),
    start_ns,
    ...(index % 50 === 0 ? { status: 'running' } : { status: statuses[index % 6], end_ns }),
    attributes: index % 4 === 0 ? {} : { 'tool.name': tool },
    events: index % 2 === 0 ? [] : [{ name: 'policy.decision', attributes: { decision: decisions[index % 4] } }],
  }
}

describe('the drawing of a timeline', { skip: noBrowser }, () => {
  let world: World
  const start = Date.now() - 3 * HOUR_MS
  before(async () => {
    world = await startWorld()
  })
  after(() => world.close())

  for (const [seconds, ticks] of [
    [145, ['0', '30 s', '1 min', '1 min 30 s', '2 min']],
    [120 * 3600, ['0', '24 h', '48 h', '72 h', '96 h']],
    [517 * 3600, ['0', '120 h', '240 h', '360 h']],
  ] as const)
    it(`shows round times and lengths apart from each other in a run of ${seconds} s, however narrow the page`, async () => {
      const visit = await world.open()
      const { page } = visit
      const id = await world.trace({
        spans: [{ name: 'long', start_ns: at(start, 0), end_ns: at(start, seconds * 1_000) }],
      })
      for (const width of [360, 768, 1100, 1440]) {
        await page.setViewportSize({ width, height: 800 })
        await visit.to(`/replay/${id}`)
        assert.deepEqual(await page.locator('.ticks text').allTextContents(), ticks)
        const edges = await page.locator('.ticks text').evaluateAll((texts) =>
          texts.flatMap((text) => {
            const { left, right } = text.getBoundingClientRect()
            return left === right ? [] : [left, right]
          }),
        )
        assert.ok(edges.length >= 4, `${width} px: ${edges}`)
        assert.deepEqual(
          [...edges, width],
          [...edges, width].sort((one, other) => one - other),
        )
        const cut = await page
          .locator('#timeline td.figure')
          .evaluateAll((cells) => cells.filter((cell) => cell.scrollWidth > cell.clientWidth).length)
        assert.equal(cut, 0, `${width} px`)
      }
      await visit.close()
    })
  it('keeps the number of a span behind its name, also behind letters that run from right to left', async () => {
    const name = 'مرحبا بالعالم'
    const span = (ms: number) => ({ name, start_ns: at(start, ms), end_ns: at(start, ms + 1) })
    const id = await world.trace({ spans: [span(0), ...longRun(2_100, start).spans, span(5)] })
    const visit = await world.open()
    const { page } = visit
    const behind = () =>
      page
        .locator('#timeline .pick', { hasText: name })
        .first()
        .evaluate((link) => {
          const box = (node: Node) => {
            const range = document.createRange()
            range.selectNodeContents(node)
            return range.getBoundingClientRect()
          }
          const named = link.querySelector('bdi')
          const number = named?.nextSibling
          if (!named || !number) throw new Error(link.innerHTML)
          return [number.textContent?.trim(), box(number).left - box(named).right]
        })
    await visit.to(`/replay/${id}`)
    const served = await behind()
    assert.equal(served[0], '#1')
    assert.ok(Number(served[1]) > -1, `${served}`)
    await page.locator('#load-all').click()
    await page.waitForFunction(() => document.documentElement.scrollHeight > 2_000 * 25)
    assert.deepEqual(await behind(), served)
    await visit.close()
  })
  it('draws bars where the data says, within half a percent', async () => {
    const id = await world.trace(threeSteps('bars', start))
    const visit = await world.open()
    await visit.to(`/replay/${id}`)
    const { json } = await world.api('GET', `/api/v1/runs/${id}`)
    const { spans, run } = json as unknown as {
      readonly run: { readonly start_ns: number; readonly end_ns: number }
      readonly spans: readonly { readonly id: string; readonly start_ns: number; readonly end_ns: number }[]
    }
    const length = run.end_ns - run.start_ns
    for (const span of spans) {
      const bar = await drawn(visit, span.id)
      const wanted = {
        x: ((span.start_ns - run.start_ns) / length) * 100,
        width: ((span.end_ns - span.start_ns) / length) * 100,
      }
      assert.ok(Math.abs(bar.x - wanted.x) < 0.5, `${span.id} begins at ${bar.x} %, not ${wanted.x} %`)
      assert.ok(Math.abs(bar.width - wanted.width) < 0.5, `${span.id} is ${bar.width} % wide, not ${wanted.width} %`)
    }
    await visit.close()
  })

  it('shows a nanosecond beside two hours, and lets both be chosen', async () => {
    const id = await world.trace({
      name: 'extremes',
      status: 'ok',
      spans: [
        { id: 'huge', name: 'command.exec', start_ns: at(start, 0), end_ns: at(start, 2 * HOUR_MS) },
        {
          id: 'tiny',
          name: 'tool.call',
          start_ns: at(start, HOUR_MS),
          end_ns: String(BigInt(at(start, HOUR_MS)) + 1n),
        },
      ],
    })
    const visit = await world.open()
    await visit.to(`/replay/${id}`)
    for (const [span, lasts] of [
      ['tiny', /1 ns/],
      ['huge', /2 h 00 min/],
    ] as const) {
      const stroke = await visit.page.locator(`#span-${span} .lane rect`).evaluate((bar) => {
        const { strokeWidth, stroke: colour } = getComputedStyle(bar)
        return bar.getBoundingClientRect().width + (colour === 'none' ? 0 : Number.parseFloat(strokeWidth))
      })
      assert.ok(stroke >= 1, `${span} is ${stroke} px wide`)
      await visit.page.locator(`#span-${span} .pick`).click()
      await visit.page.waitForURL(new RegExp(`span=${span}`))
      await visit.page.locator('#details', { hasText: lasts }).waitFor()
    }
    await visit.close()
  })

  it('keeps fifty levels readable', async () => {
    const spans = Array.from({ length: 50 }, (_, level) => ({
      id: `l${level}`,
      ...(level === 0 ? {} : { parent_id: `l${level - 1}` }),
      name: `level ${level}`,
      start_ns: at(start, level),
      end_ns: at(start, 200 - level),
    }))
    const id = await world.trace({ name: 'deep', status: 'ok', spans })
    for (const width of [1280, 360]) {
      const visit = await world.open({ viewport: { width, height: 800 } })
      await visit.to(`/replay/${id}`)
      const box = await visit.page.locator('#span-l49 .pick').boundingBox()
      assert.ok((box?.width ?? 0) > 40 && (box?.x ?? 0) + 40 < width, JSON.stringify(box))
      assert.match(await visit.page.locator('#span-l49').innerText(), /level 49/)
      assert.ok((await visit.overflow()) <= 0)
      await visit.close()
    }
  })

  it('draws the rows of a long run as the server does', async () => {
    const spans = Array.from({ length: 1_001 }, (_, index) => oddSpan(index))
    const id = await world.trace({ name: 'long', status: 'ok', spans })
    const visit = await world.open()
    const { page } = visit
    const rows = () => page.locator('#timeline tr[id]').evaluateAll(rowTexts)
    for (const find of ['tool', 'nothing like it']) {
      await visit.to(`/replay/${id}?find=${find}`)
      const served = await rows()
      await visit.to(`/replay/${id}?find=${find}&all=1`)
      await page.locator('#timeline .spacer').first().waitFor({ state: 'attached' })
      const drawn = await rows()
      assert.ok(drawn.length > 30)
      for (const [at, row] of drawn.entries()) assert.equal(row, served[at])
    }
    await visit.close()
  })
})
