import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { redactor } from '../../../../plugins/redaction/redact.ts'
import { characters, numbers, type Random } from './shapes.ts'

/** Texts parted by empty lines, without the headings among them. */
const read = (name: string): readonly string[] =>
  readFileSync(new URL(`../../../data/${name}.txt`, import.meta.url), 'utf8')
    .replace(/^## .*\n/gm, '')
    .split(/\n\n+/)
    .map((text) => text.replace(/\n$/, ''))
    .filter((text) => text !== '')

const WORDS = ['tangerine', 'harbor', 'meadow', 'sunny', 'kestrel', 'orbit', 'velvet', 'copper']
const word = (random: Random): string => {
  const chosen = WORDS[Math.floor(random() * WORDS.length)] ?? ''
  return chosen.charAt(0).toUpperCase() + chosen.slice(1)
}
const SIGNS = '!#%^*+=-_.'
/** As people and generators make them. */
const values: readonly ((random: Random) => string)[] = [
  (random) => characters(random, 'hex', 32),
  (random) => characters(random, 'alnum', 22),
  (random) => word(random) + characters(random, 'digit', 2) + word(random),
  (random) =>
    Array.from({ length: 14 }, (_none, at) =>
      at % 4 === 3 ? SIGNS.charAt(Math.floor(random() * SIGNS.length)) : characters(random, 'alnum', 1),
    ).join(''),
]

describe('values behind telling names', () => {
  for (const [set, least, share] of [
    ['fresh', 300, 95],
    ['second', 230, 95],
    ['third', 290, 95],
    // as they came: what nobody could tell is among them
    ['fourth', 400, 93],
  ] as const) {
    it(`are hidden in at least ${share} % of the contexts of the ${set} set`, () => {
      const random = numbers(4)
      const contexts = read(`${set}-contexts`)
      assert.ok(contexts.length >= least)
      const redact = redactor()
      const missed = contexts.flatMap((context) =>
        values.flatMap((make) => {
          const value = make(random)
          const text = context.replaceAll('\u00a7', value)
          return redact.text(text).includes(value) ? [text] : []
        }),
      )
      assert.ok(
        missed.length <= (contexts.length * values.length * (100 - share)) / 100,
        `${missed.length}\n${missed.join('\n')}`,
      )
    })
    it(`are not seen in more than 1 % of labels, references, placeholders and code of the ${set} set`, () => {
      const texts = read(`${set}-look-alikes`)
      assert.ok(texts.length > 200)
      const redact = redactor()
      const changed = texts.filter((text) => redact.text(text) !== text)
      assert.ok(changed.length <= texts.length * 0.01, changed.join('\n'))
    })
  }
  it('are no ids and names of which a sentence speaks', () => {
    for (const text of [
      'user token for request: req_01HX5K3J9Q',
      'password field id: input-42-b',
      'password policy: min12-upper1',
    ])
      assert.equal(redactor().text(text), text)
  })
  it('lose no mark of Markdown, and no bracket of a prompt', () => {
    const value = characters(numbers(5), 'alnum', 22)
    const redact = redactor()
    assert.equal(redact.text(`- **Password:** ${value}`), '- **Password:** [REDACTED:name]')
    assert.equal(redact.text(`__Token__: \`${value}\``).includes(value), false)
    for (const text of ['password = input("Password: ")', 'read -s -p "Password: " password'])
      assert.equal(redact.text(text), text)
  })
  it('are hidden where they stand again', () => {
    const value = characters(numbers(6), 'alnum', 22)
    const redact = redactor()
    assert.ok(!redact.text(`tried ${value} first\npassword: ${value}\nthen ${value}`).includes(value))
    const record = { log: [`echo ${value}`], env: { API_TOKEN: value }, more: `again ${value}` }
    assert.ok(!JSON.stringify(redact.value(record)).includes(value))
    assert.equal(redact.text(`alone ${value}`), `alone ${value}`)
  })
  it('need no digit behind the prefix of a vendor', () => {
    for (const key of ['glpat-abcdefGHIJKLmnopqrst', 'npg_AbCdEfGhIjKl']) assert.ok(!redactor().text(key).includes(key))
  })
})
