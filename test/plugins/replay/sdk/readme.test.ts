import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { settingsOf } from '../../../../plugins/replay/sdk/settings.ts'

const folder = join(import.meta.dirname, '../../../../plugins/replay/sdk')
const read = (file: string): string => readFileSync(join(folder, file), 'utf8')

/** First cells of the table below a heading, with the others. */
const rowsBelow = (heading: string): readonly (readonly string[])[] => {
  const [, section = ''] = read('README.md').split(`\n## ${heading}\n`)
  const [body = ''] = section.split('\n## ')
  return [...body.matchAll(/^\| `(.*)$/gm)].map(([line]) =>
    line
      .slice(1, -1)
      .split(' | ')
      .map((cell) => cell.trim().replaceAll('`', '')),
  )
}

/** Members of an interface in `api.ts`, in their order. */
const membersOf = (name: string): readonly string[] => {
  const [, body = ''] = read('api.ts').split(`export interface ${name} `)
  const [members = ''] = body.split('\n}\n')
  return [...new Set([...members.matchAll(/^ {2}(?:readonly )?(\w+)[?<(:]/gm)].map(([, member = '']) => member))]
}

describe('the page of the SDK', () => {
  it('has every option, in the order of the types', () => {
    assert.deepEqual(
      rowsBelow('Options').map(([name]) => name),
      membersOf('GuardOptions'),
    )
    const [, named = ''] = /Options of `guard\.trace\(\)`: (.*)\./.exec(read('README.md')) ?? []
    assert.deepEqual(named.replaceAll('`', '').split(', '), membersOf('TraceOptions'))
  })

  it('says the defaults that apply, and every variable of the environment', () => {
    const settings = { ...settingsOf({}, {}, () => {}) } as Readonly<Record<string, unknown>>
    for (const [name = '', otherwise = ''] of rowsBelow('Options'))
      if (/^(?:\d+|true|false)$/.test(otherwise)) assert.equal(String(settings[name]), otherwise, name)
    assert.equal(settings.ingestUrl, `${rowsBelow('Options')[0]?.[1]}/api/v1/traces`)
    const named = rowsBelow('Options').flatMap(([, , variable = '']) => /GUARD_\w+/.exec(variable)?.[0] ?? [])
    const used = [...read('settings.ts').matchAll(/env\.(GUARD_\w+)/g)].map(([, variable]) => variable)
    assert.deepEqual(named.toSorted(), used.toSorted())
  })

  it('has every call and every error code', () => {
    const calls = rowsBelow('Calls').flatMap(([call = '']) =>
      [...call.matchAll(/guard\.(\w+)/g)].map(([, name]) => name),
    )
    assert.deepEqual(calls.toSorted(), membersOf('Guard').toSorted())
    const [, union = ''] = read('errors.ts').split('export type UseCode =')
    const codes = [...(union.split('\n\n')[0] ?? '').matchAll(/'(\w+)'/g)].map(([, code]) => code)
    const network = [...read('errors.ts').matchAll(/`([A-Z_]{5,})`/g)].map(([, code]) => code)
    assert.deepEqual(
      rowsBelow('Errors')
        .map(([code]) => code)
        .toSorted(),
      [...codes, ...network].toSorted(),
    )
    const [, keys = ''] = /records that are (.*) \|/.exec(read('README.md')) ?? []
    assert.deepEqual(
      [...keys.matchAll(/`(\w+)`/g)].map(([, key]) => key),
      membersOf('Stats'),
    )
  })
})
