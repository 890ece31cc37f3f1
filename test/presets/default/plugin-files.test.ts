import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { Gateway } from 'guard-gateway/core'
import { refusal } from '../../../presets/default/config/config-errors.ts'
import { usePlugins } from '../../../presets/default/plugin-files.ts'

describe('plugin files', () => {
  let folder = ''
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'guard-plugins-'))
  })
  after(() => rm(folder, { recursive: true, force: true }))
  const write = async (name: string, text: string) => {
    await writeFile(join(folder, name), text)
    return join(folder, name)
  }

  it('register all exported plugins in order, and skip other exports', async () => {
    const one = await write(
      'one.mjs',
      "export const b = { name: 'b', apply() {} }; export const a = { name: 'a', apply() {} }; export const other = 1; export const half = { name: 'half' }",
    )
    const two = await write('two.ts', "export const c = { name: 'c', apply(_gateway: unknown): void {} }")
    const gateway = new Gateway()
    await usePlugins(gateway, [two, one], refusal())
    assert.deepEqual(gateway.plugins(), ['c', 'a', 'b'])
  })
  it('that are missing, invalid or without a plugin give an error with key and name', async () => {
    await assert.rejects(usePlugins(new Gateway(), [join(folder, 'none.ts')], refusal()), {
      code: 'INVALID_CONFIG',
      message: /^plugins\[0\]: .*none\.ts cannot be loaded as a plugin: there is no such file\.$/,
    })
    await assert.rejects(usePlugins(new Gateway(), [await write('broken.mjs', 'export const = 1')], refusal()), {
      code: 'INVALID_CONFIG',
      message: /broken\.mjs cannot be loaded/,
    })
    await assert.rejects(usePlugins(new Gateway(), [await write('empty.mjs', 'export const a = 1')], refusal()), {
      code: 'INVALID_CONFIG',
      message: /empty\.mjs exports no plugin/,
    })
  })
  it('that fail to load or apply give an error with the line', async () => {
    for (const [name, text, message] of [
      [
        'syntax.ts',
        'const a = 1\nexport const x = { name: , }',
        /syntax\.ts cannot be loaded as a plugin: syntax\.ts:2: Expr/,
      ],
      [
        'throws.mjs',
        'const a = 1\nthrow new Error("boom")',
        /throws\.mjs cannot be loaded as a plugin: throws\.mjs:2: boom$/,
      ],
      ['imports.mjs', "import './syntax.ts'", /imports\.mjs cannot be loaded as a plugin: syntax\.ts:2: Expr/],
      [
        'apply.mjs',
        'export const x = { name: "x",\napply() { throw new Error("boom") } }',
        /apply\.mjs cannot be applied: apply\.mjs:2: boom$/,
      ],
      [
        'twice.mjs',
        'export const x = { name: "x", apply() {} }; export const y = x',
        /twice\.mjs cannot be applied: Plugin "x" is applied twice\.$/,
      ],
      [
        'needs.mjs',
        'export const x = { name: "x", requires: ["y"], apply() {} }',
        /needs\.mjs cannot be applied: Plugin "x" needs "y" before it; applied so far: none\.$/,
      ],
    ] as const)
      await assert.rejects(usePlugins(new Gateway(), [await write(name, text)], refusal()), {
        code: 'INVALID_CONFIG',
        message,
      })
  })
  it('with an invalid detector give an error with the reason', async () => {
    const core = JSON.stringify(import.meta.resolve('guard-gateway/core'))
    const wrong = [
      ["id: 'same answer', code: 'LOOP_SAME'", /The id of a detector is like "same_answer".*"same answer"/],
      ["id: 'same_answer'", /The code of detector "same_answer" is "undefined"/],
      ["id: 'same_answer', code: 'LOOP_SAME', defaults: { threshold: 3 }", /defaults\.window_size .* is undefined/],
      [
        "id: 'slow', code: 'SLOW', defaults: { threshold: 3, window_size: 3 }, async detect() {}",
        /detect of detector "slow" is async/,
      ],
    ] as const
    for (const [index, [members, message]] of wrong.entries()) {
      const text = `import { detector } from ${core}\nexport const mine = detector({ version: '1', detect() {}, ${members} })`
      await assert.rejects(usePlugins(new Gateway(), [await write(`wrong-${index}.mjs`, text)], refusal()), {
        code: 'INVALID_CONFIG',
        message,
      })
    }
  })
})
