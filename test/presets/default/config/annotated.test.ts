import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { annotatedConfig } from '../../../../presets/default/config/annotated.ts'
import { configSchema } from '../../../../presets/default/config/schema.ts'
import { parseConfig } from '../../../../presets/default/config.ts'

const key = 'guard_0123456789abcdef'
const env = { OPENAI_API_KEY: 'sk-openai', ANTHROPIC_API_KEY: 'sk-anthropic', GEMINI_API_KEY: 'gemini' }
const text = annotatedConfig(key)
/** What its first line tells a reader to do, done everywhere. */
const activated = text.replace(/^( *)#(?! \S)/gm, '$1')
const load = async (yaml: string) => (await parseConfig(yaml, '/w/guard-config.yml', env)).config

interface Branch {
  readonly enum?: readonly unknown[]
  readonly description?: string
  readonly properties?: Readonly<Record<string, Branch>>
  readonly items?: Branch
}
const keysOf = (schema: Branch): string[] =>
  Object.entries({ ...schema.properties, ...schema.items?.properties }).flatMap(([name, child]) => [
    name,
    ...keysOf(child),
  ])

describe('the written configuration file', () => {
  it('means the same as a file with only the key', async () => {
    assert.deepEqual(await load(text), await load(`gateway_key: ${key}\n`))
  })
  it('has the same meaning with every comment activated', async () => {
    assert.notEqual(activated, text)
    assert.deepEqual(await load(activated), await load(`gateway_key: ${key}\n`))
  })
  it('names the values of every enum', () => {
    const namesAll = ({ enum: values = [], description = '', ...inside }: Branch): boolean =>
      values.every((value) => description.includes(String(value))) &&
      Object.values({ ...inside.properties, ...inside.items?.properties }).every(namesAll)
    assert.equal(namesAll(configSchema as Branch), true)
  })
  it('contains every key with its description', () => {
    const lines = activated.split('\n')
    for (const name of keysOf(configSchema as Branch))
      assert.ok(
        lines.some((line) => new RegExp(`^ *(- )?${name}:|: \\[\\] +# .*\\[{.*\\b${name}\\b.*}]`).test(line)),
        `${name} is not shown`,
      )
    const plain = lines.filter((line) => /^ *(- )?[a-z_]+: \S/.test(line) && !/ # \S/.test(line))
    assert.deepEqual(
      plain.map((line) => line.trim().split(':', 1)[0]),
      [1, 2].flatMap(() => ['- name', 'base_url', 'styles', 'api_key']),
      'all upstreams but the first are short',
    )
  })
  it('fits the width of a terminal', () => {
    for (const line of text.split('\n')) assert.ok(line.length <= 130, line)
  })
})
