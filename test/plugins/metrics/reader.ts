import assert from 'node:assert/strict'

const SAMPLE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{((?:[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\["\\n])*",?)*)\})? (\S+)$/
const LABEL = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"/g
const plain: Readonly<Record<string, string>> = { '\\\\': '\\', '\\"': '"', '\\n': '\n' }

const keyOf = (name: string, labels: Readonly<Record<string, string>>): string =>
  JSON.stringify([name, Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1))])

/** Reads the text form as its description demands: heads before samples, no sample twice, histograms that add up. */
export const readMetrics = (text: string) => {
  assert.ok(text.endsWith('\n'))
  const values = new Map<string, number>()
  const types = new Map<string, string>()
  for (const line of text.split('\n').slice(0, -1)) {
    const [, typed, type] = /^# TYPE (\S+) (counter|gauge|histogram)$/.exec(line) ?? []
    if (typed !== undefined && type !== undefined) types.set(typed, type)
    if (line.startsWith('#')) continue
    const [, name = '', labels = '', value] = SAMPLE.exec(line) ?? []
    assert.ok(value !== undefined, `no sample: ${line}`)
    assert.ok(types.has(name) || types.has(name.replace(/_(bucket|sum|count)$/, '')), `${name} has no type`)
    const found = [...labels.matchAll(LABEL)].map(([, key = '', raw = '']) => [
      key,
      raw.replaceAll(/\\[\\"n]/g, (sign) => plain[sign] ?? sign),
    ])
    const key = keyOf(name, Object.fromEntries(found))
    assert.ok(!values.has(key), `twice: ${line}`)
    values.set(key, Number(value))
  }
  const value = (name: string, labels: Readonly<Record<string, string>> = {}) => values.get(keyOf(name, labels))
  return { text, value, names: new Set(types.keys()) }
}
