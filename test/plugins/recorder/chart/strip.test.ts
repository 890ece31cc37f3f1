import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { ChartOptions } from '#lib/page'
import type { Figures, FiguresQuery } from '#lib/trace'
import { comparedOf, periodOf } from '../../../../plugins/recorder/chart/period.ts'
import { strip } from '../../../../plugins/recorder/chart/strip.ts'
import { aCall, aDecision, aSession, blocked, NOON, settled } from '../../../kit/settled.ts'
import { type Bench, startBench } from '../kit.ts'

const HOUR = 3_600_000
const NOW = NOON + 30 * 60_000
const HOSTILE = `"><script>alert(1)</script>'\u202e${'x'.repeat(100_000)}`

describe('a strip of charts', () => {
  let bench: Bench
  let figures: Figures
  const asked: FiguresQuery[] = []
  before(async () => {
    bench = await startBench()
    const { read } = bench.gateway.service('figures').need()
    figures = {
      read: (query) => {
        asked.push(query)
        return read(query)
      },
    }
    const session = aSession()
    let id = 0
    const call = (at: number, model: string, over: object = {}) =>
      aCall({ id: `guardreq_${++id}`, at, session, envelope: { ...aCall().envelope, model }, ...over })
    const cost = { cost_micro: 2_500_000, cost_source: 'priced', price_version: null } as const
    const models = ['m-0', 'm-1', 'm-2', 'm-3', 'm-4', 'm-5', 'm-6']
    for (const [at, model] of models.entries())
      for (let n = at; n < models.length; n++) await bench.settle(settled({ call: call(NOON, model), cost }))
    for (let n = 0; n < 10; n++)
      await bench.settle(settled({ call: call(NOON - 5 * HOUR, HOSTILE), ended_at: NOON - 5 * HOUR + 700 }))
    await bench.settle(
      settled({
        call: call(NOON - HOUR, 'm-0'),
        ended_at: NOON - HOUR + 90,
        decision: aDecision({ decision: 'shadow_flag' }),
      }),
      blocked(call(NOON - 2 * HOUR, 'm-0', { agent_id: null })),
      settled({ call: call(NOON, 'm-play'), upstream: 'playground' }),
      settled({ call: call(NOON - 26 * HOUR, 'm-0'), ended_at: NOON - 26 * HOUR }),
    )
    assert.deepEqual(bench.faults, [])
  })
  after(() => bench.close())

  const drawn = async (query = '', over: Partial<ChartOptions> = {}): Promise<string> => {
    asked.length = 0
    const ask = { query: new URLSearchParams(query), url: `/?${query}`, now: NOW }
    return String(await strip(figures, 'USD', { ask, ...over }))
  }
  const pathsOf = (text: string, id: string): readonly string[] => {
    const [, part = ''] = text.split(`<figure id="chart-${id}">`)
    return [...part.slice(0, part.indexOf('</svg>')).matchAll(/<path class="(\w+)" d="M\d+ [\d.]+V/g)].map(
      ([, tone = '']) => tone,
    )
  }

  it('tells what each chart came to, without the Playground', async () => {
    const text = await drawn()
    const totals = [...text.matchAll(/<figcaption>(.*?)<\/figcaption>/g)].map(([, caption = '']) =>
      caption.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' '),
    )
    assert.match(totals[0] ?? '', /^Requests 40 /)
    assert.match(totals[1] ?? '', /^Cost, USD 70/)
    assert.match(totals[3] ?? '', /^Flagged and blocked 1 and 1/)
    assert.match(totals[4] ?? '', /^Latency, p50 and p95 \d+ ms and \d+ ms $/)
    assert.ok(asked.every(({ playground }) => playground === false))
    assert.match(text, /href="\/\?playground=show">show</)
    const all = await drawn('playground=show&group=model')
    assert.ok(asked.every(({ playground }) => playground === undefined))
    assert.match(all, /href="\/\?group=model">leave it out</)
  })
  it('has a layer for each decision, and one link for each bar, to its hour', async () => {
    const text = await drawn()
    assert.deepEqual(pathsOf(text, 'requests'), ['allow', 'flag', 'block'])
    assert.deepEqual(pathsOf(text, 'flagged'), ['flag', 'block'])
    assert.deepEqual(pathsOf(text, 'latency'), ['p50', 'p95'])
    const [links = ''] = /<g id="chart-columns".*?<\/g>/.exec(text) ?? []
    const hrefs = [...links.matchAll(/href="([^"]+)" tabindex="-1"/g)].map(([, href]) => href)
    assert.equal(hrefs.length, 24)
    assert.equal(hrefs.at(-1), '/replay?since=2026-03-01T12:00Z&amp;until=2026-03-01T13:00Z')
    assert.equal(text.match(/<use href="#chart-columns"\/>/g)?.length, 5)
  })
  it('has the figures of each bar with calls in a table, with the same link', async () => {
    const text = await drawn()
    const rows = [...text.matchAll(/<tr data-bar="(\d+)">(.*?)<\/tr>/g)].map(([, bar, row = '']) => [
      Number(bar),
      row
        .replaceAll(/<[^>]+>/g, ' ')
        .replaceAll(/\s+/g, ' ')
        .trim(),
    ])
    assert.deepEqual(
      rows.map(([bar]) => bar),
      [18, 21, 22, 23],
    )
    assert.match(String(rows[3]?.[1]), /^12:00 28 0 0 70 /)
    assert.match(text, /<th scope="row"><a href="\/replay\?since=2026-03-01T12:00Z&amp;until=2026-03-01T13:00Z"><time/)
  })
  it('says how much more or less there was in the time before', async () => {
    const ask = { query: new URLSearchParams(), url: '/', now: NOW }
    const period = periodOf(ask.query, NOW, false)
    const compared = period && comparedOf(period)
    assert.ok(compared)
    const marked = async (before: (now: number) => number): Promise<string> => {
      const ended = Promise.withResolvers<number>()
      const read: Figures['read'] = async (query) => {
        const answer = await figures.read(query)
        if (query.step === 'whole')
          return { ...answer, totals: { ...answer.totals, requests: before(await ended.promise) } }
        ended.resolve(answer.buckets.reduce((sum, { at, requests }) => sum + (at < compared.until ? requests : 0), 0))
        return answer
      }
      const text = String(await strip({ read }, 'USD', { ask }))
      const [, mark = ''] = /<figure id="chart-requests">.*?<\/strong>(.*?)<\/figcaption>/s.exec(text) ?? []
      return mark
        .replaceAll(/<[^>]*>/g, ' ')
        .replaceAll(/\s+/g, ' ')
        .trim()
    }
    assert.equal(await marked(() => 0), '')
    assert.equal(await marked((now) => now), 'as before')
    assert.equal(await marked((now) => now / 2), 'up ↑ 100 %')
    assert.equal(await marked((now) => now * 2), 'down ↓ 50 %')
    assert.equal(await marked((now) => now / 10.99), 'up ↑ 999 %')
    assert.equal(await marked((now) => now / 11), '× 11')
  })
  it('names five groups, with the rest as one, whatever they are called', async () => {
    const text = await drawn('group=model')
    const names = [...text.matchAll(/<li class="key (\w+)">(.*?) <span/g)].map(([, tone, name = '']) => [
      tone,
      name.replaceAll(/<[^>]+>/g, ''),
    ])
    assert.deepEqual(
      names.map(([tone]) => tone),
      ['tone0', 'tone1', 'tone2', 'tone3', 'tone4', 'rest'],
    )
    assert.equal(names.at(-1)?.[1], 'other')
    assert.doesNotMatch(text, /<script|\u202e/)
    assert.ok(text.length < 30_000, `${text.length}`)
    assert.match(text, /&lt;script&gt;alert\(1\)&lt;\/script&gt;&#39;U\+202E/)
    const agents = await drawn('group=agent')
    assert.match(agents, /<bdi title="builder">builder<\/bdi>/)
    assert.match(agents, /<li class="key tone1">no agent /)
  })
  it('is of one agent or project, and links to its runs', async () => {
    const agent_id = 'a&b "c"'
    await bench.settle(settled({ call: aCall({ id: 'guardreq_own', at: NOON, session: aSession(), agent_id }) }))
    const text = await drawn('range=7d', { agent_id, project_id: 'shop' })
    assert.ok(asked.every((query) => query.agent_id === agent_id && query.project_id === 'shop'))
    assert.match(text, /<figcaption>Requests<br><strong>1</)
    assert.match(text, /data-list="\/replay\?project_id=shop&amp;agent=a%26b\+%22c%22"/)
    assert.match(text, /href="\/replay\?project_id=shop&amp;agent=a%26b\+%22c%22&amp;since=/)
  })
  it('above the list keeps its filters, and is of its time', async () => {
    const query =
      'status=error&sort=cost&since=2026-03-01T10:00Z&until=2026-03-01T13:00Z&cursor=x&back=y&notice=z&group=model'
    const text = await drawn(query, {
      isList: true,
      ask: { query: new URLSearchParams(query), url: `/replay?${query}`, now: NOW },
    })
    assert.equal(text.match(/<a href="[^"]*" tabindex/g)?.length, 3)
    assert.match(
      text,
      /href="\/replay\?status=error&amp;sort=cost&amp;group=model&amp;since=2026-03-01T10:00Z&amp;until=2026-03-01T11:00Z"/,
    )
    assert.match(text, /href="\/replay\?status=error&amp;sort=cost&amp;group=model&amp;since=7d">7 d</)
    assert.match(
      text,
      /href="\/replay\?status=error&amp;sort=cost&amp;since=2026-03-01T10%3A00Z&amp;until=2026-03-01T13%3A00Z">decision</,
    )
    assert.doesNotMatch(text, /cursor=|back=|notice=/)
  })
  it('repeats no long filter for each bar', async () => {
    const query = `q=${'word '.repeat(100)}`
    const text = await drawn(query, { isList: true })
    assert.doesNotMatch(text, /tabindex/)
    assert.ok(text.length < 15_000, `${text.length}`)
  })
  it('says that there are no calls, and is nothing for a time that is none', async () => {
    const text = await drawn('', { project_id: 'nobody' })
    assert.match(text, /^<h2 class="strip">Last 24 hours<\/h2>[\s\S]*>30 d<[\s\S]*No requests, without the Playground/)
    assert.doesNotMatch(text, /<figure|NaN|Infinity|undefined/)
    assert.equal(await drawn('since=soon', { isList: true }), 'undefined')
  })
  it('stays small', async () => {
    for (const [query, most] of [
      ['range=1h', 22_000],
      ['range=24h', 14_000],
      ['range=30d&group=model', 16_000],
    ] as const) {
      const { length } = await drawn(query)
      assert.ok(length < most, `${query}: ${length}`)
    }
  })
  it('is drawn whatever the clock says', async () => {
    for (const now of [0, 1, NOON - 400 * 24 * HOUR, Date.UTC(2999, 0)])
      for (const range of ['1h', '24h', '7d', '30d'])
        assert.match(
          await drawn('', { ask: { query: new URLSearchParams({ range }), url: '/', now } }),
          /^<h2 class="strip">Last /,
          `${range} at ${now}`,
        )
  })
})
