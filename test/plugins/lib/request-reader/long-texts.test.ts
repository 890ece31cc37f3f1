import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { describe, it } from 'node:test'
import { promisify } from 'node:util'
import type { ApiStyle } from 'guard-gateway/core'
import { RequestReader } from 'guard-gateway/lib/request-reader'
import { shortSha256 } from '../../../../plugins/lib/ids.ts'
import { bothOf } from '../../../kit/placeholders.ts'
import { plain } from '../../../kit/plain-style.ts'
import { assertReadAlike } from '../../../kit/read-alike.ts'

const reader = new RequestReader()
const run = promisify(execFile)
const bytewise: ApiStyle = { ...plain, bytewise: true }
const long = 'a long text, of which only how it begins is parsed. '.repeat(4)

/** What a style is given of a list, after one that makes its frame known. */
const given = (list: string): unknown[] => {
  const seen: unknown[] = []
  const parts = (element: unknown) => {
    seen.push(element)
    return []
  }
  const style: ApiStyle = { ...bytewise, parts }
  for (const items of ['[]', list]) reader.read(style, Buffer.from(`{"model":"m","items":${items}}`), '')
  return seen
}

describe('long texts of a list whose frame is known', () => {
  it('are given to the style by no more than their beginning', () => {
    const [{ text }] = given(JSON.stringify([{ kind: 'user', text: `\n  ${long}` }])) as [{ text: string }]
    assert.match(text, /^\n {2}a long text, of which only how i<[\w-]{8}>[a-p]{4}$/)
    const stops = given(JSON.stringify([`12345 "${long}`, `12345 —${long}`])) as string[]
    for (const given of stops) assert.match(given, /^12345 <[\w-]{8}>[a-p]{4}$/)
  })

  it('stay as they are where something has to be known of them', () => {
    const list = [
      ' '.repeat(300),
      '\n\t'.repeat(100),
      `data:text/plain;${long}`,
      `${long}\u001b`,
      long.slice(0, 127),
      { [long]: 1, [`${long}"`]: [1] },
      `${' '.repeat(90)}${long.slice(0, 70)}`,
    ]
    assert.deepEqual(given(JSON.stringify(list, null, 1)), list)
  })

  it('leave what is no JSON for the parser to refuse', () => {
    const texts = [`${long}\n`, `${long}\\x`, `${long}\\u12`, `${long}\\`]
    for (const list of [
      ...texts.map((text) => `["${text}"]`),
      `["${long}`,
      `["${long}"`,
      `["${long}",]`,
      `["${long}"]]`,
    ])
      assert.throws(() => given(list), { code: 'INVALID_BODY' }, list)
    for (const sound of ['\\b\\f\\n\\r\\t', '\\"\\\\\\/']) assert.equal(given(`["${long}${sound}"]`).length, 1)
  })

  it('are found in lists of every length, whatever was in the memory before', () => {
    const [shortened, literal] = bothOf(plain)
    for (let length = 0; length < 400; length++) {
      const items = [
        { kind: 'user', text: 'x'.repeat(length) },
        { kind: 'text', text: `${long.slice(0, length)}"` },
      ]
      for (const list of [[], items]) {
        const body = Buffer.from(JSON.stringify({ model: 'm', items: list }))
        assertReadAlike(reader.read(shortened, body, '').conversation, reader.read(literal, body, '').conversation)
      }
    }
  })

  it('are found where a list of 1 MiB holds as many as it can', () => {
    const [shortened, literal] = bothOf({ ...plain, parts: (element) => [{ kind: 'user', text: String(element) }] })
    const items = Array.from({ length: 8_004 }, (_, index) => `${index} `.padEnd(128, 'x'))
    for (const list of [[], items]) {
      const body = Buffer.from(JSON.stringify({ model: 'm', items: list }))
      const read = (style: ApiStyle) => reader.read(style, body, 'full').conversation
      assertReadAlike(read(shortened), read(literal))
    }
    assert.ok(JSON.stringify(items).length < 1024 * 1024 && JSON.stringify([...items, items[0]]).length > 1024 * 1024)
  })

  it('are parsed in lists over 1 MiB', () => {
    const isParsed = (count: number): boolean => {
      const items = Array.from({ length: count }, (_, index) => `${count} ${index} ${long.repeat(220)}`)
      return (given(JSON.stringify(items)) as string[]).every((text, index) => text === items[index])
    }
    assert.deepEqual([isParsed(22), isParsed(24)], [false, true])
  })

  it('are parsed where there is no WebAssembly, and known by SHA-256', async () => {
    const script = `import { RequestReader } from 'guard-gateway/lib/request-reader'
      import { plain } from ${JSON.stringify(new URL('../../../kit/plain-style.ts', import.meta.url))}
      delete globalThis.WebAssembly
      const reader = new RequestReader()
      const given = []
      const parts = (element) => [given.push(element.text?.length), plain.parts(element)][1]
      const read = (...items) =>
        reader.read({ ...plain, parts, bytewise: true }, Buffer.from(JSON.stringify({ model: 'm', items })), '').conversation
      const long = ${JSON.stringify(long)}
      read()
      const calls = [{ kind: 'call', tool: 't' }, { kind: 'result', text: long }]
      console.log(read(...calls).turns[0].calls[0].result)
      console.log(given.slice(1).join())`
    const options = ['--conditions=guard-source', '--input-type=module', '--eval', script]
    const { stdout } = await run(process.execPath, options)
    assert.deepEqual(stdout.trim().split('\n'), [shortSha256(long.trim()), `${long.length}`])
  })

  it('end at the first quote that is not escaped, wherever that is and however many backslashes do before it', () => {
    for (let before = 0; before < 70; before++) {
      for (const count of [0, 1, 2, 3, 62, 63, 64, 65]) {
        // to whoever takes the end of the first for a beginning, what follows is a text; what then is no JSON would be read without placeholders
        const list = [[`${'x'.repeat(before)}${'\\'.repeat(count)}"`], Array(200).fill(1), long, `${count} ${long}`]
        const texts = given(JSON.stringify(list)).slice(2) as string[]
        assert.ok(
          texts.every((text) => /<[\w-]{8}>[a-p]{4}$/.test(text)),
          `${before} characters and ${count} backslashes`,
        )
      }
    }
  })

  it('are read as texts by whoever asks after another list was scanned', () => {
    const body = (text: string) =>
      Buffer.from(
        JSON.stringify({
          model: 'm',
          items: [
            { kind: 'user', text },
            { kind: 'result', text: `${long}${text}` },
          ],
        }),
      )
    const read = (text: string) => reader.read(bytewise, body(text), text).conversation
    const alone = read(`one ${long}`).opening
    const [first, second] = [read(`one ${long}`), read(`two ${long}`)]
    assert.deepEqual([first.opening, second.opening !== alone], [alone, true])
    assert.deepEqual(first.resultTexts?.(1), [[`${long}one ${long}`]])
    assert.deepEqual(second.resultTexts?.(1), [[`${long}two ${long}`]])
  })
})
