import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { code, importsOf, read, sources } from './sources.ts'

const core = sources.filter((file) => file.startsWith('core/'))
const shared = sources.filter((file) => /^(?:core|plugins\/lib)\//.test(file))

describe('the core', () => {
  it('is small', () => {
    assert.ok(core.length <= 40, `${core.length} files`)
    const lines = core.reduce((sum, file) => sum + read(file).split('\n').length - 1, 0)
    assert.ok(lines <= 3_431, `${lines} lines`)
  })
  it('gives out few names beside the types of contracts', () => {
    const names = read('core/index.ts')
      .replace(/export type \* [^\n]*/, '')
      .matchAll(/(?<=[{,]\s*)(?:type )?(\w+)(?: as \w+)?(?=\s*[,}])/g)
    const count = [...names].length
    assert.ok(count > 50 && count <= 90, `${count} names`)
  })
  it('loads nothing but tapable', () => {
    for (const file of core)
      for (const { specifier, typeOnly } of importsOf(file))
        assert.ok(typeOnly || /^(?:node:|\.|tapable$)/.test(specifier), `${file} loads ${specifier}`)
  })
})

describe('state', () => {
  /** Counters: of ids, and of what one text was written of. */
  const remembering = [
    'ids.ts',
    'tools/effect.ts',
    'trace/trace-ids.ts',
    'request-reader/conversation/fingerprint.ts',
  ].map((file) => `plugins/lib/${file}`)
  it('belongs to a gateway: no module of core or of a library holds any that changes, but for notes on objects', () => {
    for (const file of shared.filter((name) => !remembering.includes(name))) {
      const text = code(file)
      assert.doesNotMatch(text, /^(?:export )?let /m, `${file} has a variable at its top`)
      for (const [line] of text.matchAll(/^(?:export )?const \w+(?:: [^=\n]+)? = new (?:Map|Set)(?:<[^(]*>)?\(\)$/gm))
        assert.fail(`${file}: ${line}`)
    }
  })
  it('of a feature is a service, not a map by gateway', () => {
    for (const file of sources) assert.doesNotMatch(code(file), /WeakMap<Gateway\b/, file)
  })
})

describe('dependencies', () => {
  it('are used by their public names', () => {
    for (const file of core) assert.doesNotMatch(code(file), /\._(?:args|taps|call)\b|readonly _\w+:/, file)
  })
})

describe('stages', () => {
  it('have names', () => {
    for (const file of sources.filter((name) => /^(?:core|plugins|presets)\//.test(name)))
      assert.doesNotMatch(code(file), /\bstage: -?\d/, file)
  })
})
