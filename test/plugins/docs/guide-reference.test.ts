import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { parse } from 'yaml'
import { commandKind } from '#lib/command'
import { commandsPage } from '../../../plugins/docs/guide/index.ts'
import { withCommands } from '../../../presets/default/commands.ts'
import { annotatedConfig } from '../../../presets/default/config/annotated.ts'
import { fakeIo } from '../../kit/io.ts'
import { GuideReader, textOf } from './guide-reader.ts'

/** Paths of all keys of a configuration: `server.tls.cert`. */
const keysOf = (value: unknown, path = ''): readonly string[] =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length > 0
    ? Object.entries(value).flatMap(([key, child]) => keysOf(child, path === '' ? key : `${path}.${key}`))
    : [path]

describe('the reference of the guide', () => {
  let guide: GuideReader
  before(async () => {
    guide = await GuideReader.start()
  })
  after(() => guide.close())

  it('has every key that a new configuration file has', async () => {
    const words = await guide.words('/docs/guide/configuration')
    const file = annotatedConfig('guard_0123456789abcdef').replaceAll(/^( *)#(?! \S)/gm, '$1')
    const keys = keysOf(parse(file))
    assert.ok(keys.length > 50, `${keys.length} keys`)
    for (const key of [...keys, 'upstreams[].base_url', 'mcp.servers.*.target', 'notify.rules[].events'])
      assert.ok(words.includes(` ${key} `), key)
  })
  it('has every error code and every reason of a block, with what to do', async () => {
    const words = await guide.words('/docs/guide/error-codes')
    for (const { id, help } of guide.started.gateway.errorCodes)
      for (const part of [` ${id} `, help.replaceAll(/\s+/g, ' ')]) assert.ok(words.includes(part), part)
    for (const { code } of guide.started.gateway.detectors) assert.ok(words.includes(` ${code} `), code)
  })
  it('has every rule with its params', async () => {
    const words = await guide.words('/docs/guide/rules')
    for (const { id, params } of guide.started.gateway.detectors) {
      assert.ok(words.includes(` ${id} `), id)
      const { properties = {} } = (params ?? {}) as { readonly properties?: object }
      for (const name of Object.keys(properties)) assert.ok(words.includes(` params.${name} `), `${id} ${name}`)
    }
  })
  it('has every command with its flags', async () => {
    const gateway = await withCommands(fakeIo())
    const { render } = await import('../../../plugins/docs/guide/markdown.ts')
    const words = textOf(String(render(String(await commandsPage(gateway).text()), () => undefined).main))
    for (const { id, options = {} } of gateway.registry(commandKind)) {
      assert.ok(words.includes(` guard ${id} `), id)
      for (const flag of Object.keys(options)) assert.ok(words.includes(` ${flag} `), `${id} ${flag}`)
    }
    // a program without the command line knows some of them
    assert.doesNotMatch(words, /part of another program/)
    assert.match(await guide.words('/docs/guide/commands'), /part of another program/)
  })
  it('has every metric', async () => {
    const words = await guide.words('/docs/guide/metric-names')
    const { text } = await guide.started.request('GET', '/metrics')
    for (const [, name = '', help = ''] of text.matchAll(/^# HELP (\S+) (.*)$/gm))
      assert.ok(words.includes(` ${name} `) && words.includes(help), name)
  })
})
