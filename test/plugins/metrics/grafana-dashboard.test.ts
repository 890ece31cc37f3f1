import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, before, describe, it } from 'node:test'
import { dialectOf } from '../../kit/dialogue.ts'
import { type Service, startService } from '../../kit/service.ts'
import { readMetrics } from './reader.ts'

const METRIC = /\b((?:guard|gen_ai|process)_\w+)(?:\{([^}]*)\})?/g
const SCRAPER = ['instance', 'job']
const BY = /\bby \(([^)]*)\)/g

interface Target {
  readonly expr: string
  readonly legendFormat: string
}

interface Panel {
  readonly title: string
  readonly type: string
  readonly gridPos: Readonly<Record<'x' | 'y' | 'w' | 'h', number>>
  readonly targets?: readonly Target[]
}

const file = new URL('../../../plugins/metrics/grafana-dashboard.json', import.meta.url)

describe('the dashboard for Grafana', () => {
  let service: Service
  let told: ReadonlyMap<string, ReadonlySet<string>>
  let panels: readonly Panel[]
  before(async () => {
    panels = JSON.parse(await readFile(file, 'utf8')).panels
    service = await startService()
    await work(service)
    told = labelsOf(await (await fetch(`${service.gateway.url}/metrics`)).text())
  })
  after(() => service[Symbol.asyncDispose]())

  it('asks for no metric and no label that a gateway at work does not have', () => {
    const asked = panels.flatMap(({ targets = [] }) => targets.flatMap(askedOf))
    for (const [name, labels] of asked) {
      const known = told.get(name)
      assert.ok(known !== undefined, `there is no ${name}`)
      for (const label of labels) assert.ok(known.has(label), `${name} has no label ${label}`)
    }
    assert.ok(new Set(asked.map(([name]) => name)).size > 12)
  })
  it('lies in a grid without overlaps, and every panel draws something', () => {
    const taken = new Map<string, string>()
    for (const { title, type, gridPos, targets = [] } of panels) {
      const { x, y, w, h } = gridPos
      assert.ok(x >= 0 && x + w <= 24, title)
      assert.ok(type === 'row' || targets.length > 0, title)
      for (let column = x; column < x + w; column++)
        for (let line = y; line < y + h; line++) {
          assert.equal(taken.get(`${column} ${line}`), undefined, title)
          taken.set(`${column} ${line}`, title)
        }
    }
  })
})

/** The metrics of an expression, each with the labels that are asked of it; those of the scraper are no business of the gateway. */
const askedOf = ({ expr, legendFormat }: Target): readonly (readonly [name: string, labels: readonly string[]])[] => {
  const found = [...expr.replaceAll(BY, '').matchAll(METRIC)]
  assert.ok(found.length > 0, expr)
  const grouped = [...expr.matchAll(BY)].flatMap(([, list = '']) => list.split(',').map((one) => one.trim()))
  const shown = [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label = '']) => label)
  return found.map(([, name = '', tests = '']) => {
    const asked = [...tests.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)].map(([, label = '']) => label)
    return [name, [...asked, ...grouped, ...shown].filter((label) => !SCRAPER.includes(label))]
  })
}

/** Makes every metric count that counts only when something happens. */
const work = async (service: Service): Promise<void> => {
  const chat = dialectOf('chat_completions')
  await service.policy({ mode: 'enforce', rules: [{ rule_type: 'exact_repeat', threshold: 2, window_size: 4 }] })
  for (let n = 0; n < 3; n++) await service.send(chat, [{ user: 'same' }], { 'x-guard-session-id': 'one' })
  service.provider.script({ status: 529 }, {})
  for (const stream of [false, true]) await service.send(chat, [{ user: `${stream}` }], {}, { stream })
  service.gateway.gateway.fault(new Error('lost'), 'somewhere')
  await service.request('POST', '/api/demo/run', { scenario: 'mcp-size' })
  await service.request('POST', '/api/v1/traces', { spans: [{ name: 'a' }] })
}

/** Names of metrics with those of their labels, as they are told. */
const labelsOf = (text: string): ReadonlyMap<string, ReadonlySet<string>> => {
  readMetrics(text)
  const found = new Map<string, Set<string>>()
  for (const [, name = '', labels = ''] of text.matchAll(/^([a-z]\w*)(?:\{(.*)\})? \S+$/gm)) {
    const known = found.get(name) ?? new Set()
    found.set(name, known)
    for (const [, label = ''] of labels.matchAll(/(\w+)="(?:[^"\\]|\\.)*"/g)) known.add(label)
  }
  return found
}
