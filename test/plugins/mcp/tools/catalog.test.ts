import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { sha256 } from '#lib/ids'
import { canonicalJson } from '#lib/trace'
import { type CatalogKit, page, server, startCatalogs } from './catalog-kit.ts'

describe('what the proxy knows of the tools of a server', () => {
  let catalogs: CatalogKit
  before(async () => {
    catalogs = await startCatalogs()
  })
  after(() => catalogs.kit.close())

  it('is the last whole list: what it does not name is forgotten', async () => {
    const catalog = catalogs.catalog()
    await catalog.observe(page(['a', 'b'], 'next'))
    await catalog.observe(page(['c']), 'next')
    assert.deepEqual([...catalog.names()], ['a', 'b', 'c'])
    await catalog.observe(page(['b'], 'next'))
    assert.deepEqual([...catalog.names()], ['a', 'b', 'c'], 'a page alone forgets nothing')
    await catalog.observe(page(['d']), 'next')
    assert.deepEqual([...catalog.names()], ['b', 'd'])
  })
  it('stays when the server says that its list has changed', async () => {
    const catalog = catalogs.catalog()
    await catalog.observe(page(['a', 'b']))
    await catalog.observe(page(['a'], 'next'))
    catalog.listChanged()
    await catalog.observe(page(['c']), 'next')
    assert.deepEqual([...catalog.names()], ['a', 'b', 'c'], 'a list that mixes old and new forgets nothing')
  })
  it('stays when a client leaves out pages', async () => {
    const catalog = catalogs.catalog()
    await catalog.observe(page(['a'], 'two'))
    await catalog.observe(page(['b'], 'three'), 'two')
    for (let round = 0; round < 2; round++) {
      await catalog.observe(page(['c']), 'three')
      assert.deepEqual([...catalog.names()], ['a', 'b', 'c'])
      await catalog.observe(page(['a'], 'two'))
    }
  })
  it('ends at 10,000 tools and 1,000 pages', async () => {
    const catalog = catalogs.catalog()
    const many = Array.from({ length: 6000 }, (_, index) => `t${index}`)
    assert.equal(await catalog.observe(page(many, 'next')), undefined)
    const more = many.map((name) => `u${name}`)
    assert.equal(await catalog.observe(page(more, 'next'), 'next'), 'Upstream lists more than 10000 tools')
    const endless = catalogs.catalog()
    assert.equal(await endless.observe(page([], 'next')), undefined)
    for (let count = 1; count < 1000; count++) assert.equal(await endless.observe(page([], 'next'), 'next'), undefined)
    assert.equal(await endless.observe(page([], 'next'), 'next'), 'Upstream lists its tools on more than 1000 pages')
  })
  it('lives through results that are no lists', async () => {
    const catalog = catalogs.catalog()
    for (const result of [
      '{}',
      '[]',
      '{"tools":null}',
      '{"tools":{}}',
      '{"tools":[null,1,"x",{},{"name":1}]}',
      '{"tools":[{"name":""},{"name":"x"}]}',
    ])
      assert.equal(await catalog.observe(result), undefined, result)
    assert.deepEqual([...catalog.names()], ['x'])
    assert.deepEqual(await catalog.validate('x', {}), { state: 'skipped' })
  })
  it('prints a definition by what a model goes by, however it is spelled', async () => {
    const catalog = catalogs.catalog()
    const prints: (string | null)[] = []
    for (const text of [
      '{"tools":[{"name":"p","description":"d","inputSchema":{"type":"object","required":["a"]}}]}',
      '{ "tools": [ { "inputSchema": { "required": [ "a" ], "type": "object" }, "name": "p", "description": "\\u0064" } ] }',
      '{"tools":[{"name":"p","description":"d","inputSchema":{"type":"object","required":["a"]},"vendor":{"x":1}}]}',
    ]) {
      await catalog.observe(text)
      prints.push(catalog.fingerprint('p'))
    }
    assert.match(String(prints[0]), /^[0-9a-f]{64}$/)
    assert.equal(new Set(prints).size, 1)
    for (const [name, value] of Object.entries({
      title: 't',
      description: 'e',
      outputSchema: {},
      annotations: { readOnlyHint: true },
    })) {
      await catalog.observe(
        page([{ name: 'p', description: 'd', inputSchema: { type: 'object', required: ['a'] }, [name]: value }]),
      )
      prints.push(catalog.fingerprint('p'))
    }
    assert.equal(new Set(prints).size, 5)
    assert.equal(catalog.fingerprint('absent'), null)
  })
  it('prints a server by its address, its words and its tools', async () => {
    const catalog = catalogs.catalog()
    assert.equal(catalog.serverFingerprint(), null)
    const prints = new Set<string | null>()
    const facts = { protocol_version: '2025-11-25', announcesTools: true, instructions: null }
    for (const step of [
      () => catalog.observe(page(['a'])),
      () => catalog.observe(page(['a', 'b'])),
      () => catalog.initialized({ ...facts, server_info: '{"name":"one","version":"1"}' }),
      () => catalog.initialized({ ...facts, server_info: '{"name":"two","version":"1"}' }),
      () => catalog.initialized({ ...facts, server_info: '{"name":"two"}', instructions: 'Obey.' }),
    ]) {
      await step()
      prints.add(catalog.serverFingerprint())
    }
    assert.equal(prints.size, 5)
    const tools = ['a', 'b'].map((tool) => catalog.fingerprint(tool)).sort()
    const printed = { place: server.target, name: 'two', instructions: 'Obey.', tools }
    assert.equal(catalog.serverFingerprint(), sha256(canonicalJson(printed)), 'another print for the same server')
  })
})

describe('the arguments of a call against the schema observed last', () => {
  let catalogs: CatalogKit
  before(async () => {
    catalogs = await startCatalogs()
  })
  after(() => catalogs.kit.close())

  const schema = (inputSchema: object) => page([{ name: 't', inputSchema }])
  it('pass, fail with the first fault, or are not checked', async () => {
    const catalog = catalogs.catalog()
    assert.deepEqual(await catalog.validate('t', {}), { state: 'skipped' })
    await catalog.observe(schema({ type: 'object', properties: { path: { type: 'string' } }, required: ['path'] }))
    assert.deepEqual(catalog.check('t', {}), { state: 'skipped' }, 'nothing is compiled before the first call')
    assert.deepEqual(await catalog.validate('t', { path: 'a' }), { state: 'ok' })
    assert.deepEqual(await catalog.validate('t', { path: 1 }), {
      state: 'failed',
      error: '/path must be string',
      recorded: '/path must be string',
    })
    assert.deepEqual(catalog.check('t', {}), {
      state: 'failed',
      error: "must have required property 'path'",
      recorded: "must have required property 'path'",
    })
  })
  it('are judged by the new definition as soon as it is observed, and by one of either dialect', async () => {
    const catalog = catalogs.catalog()
    await catalog.observe(schema({ type: 'object', required: ['a'] }))
    assert.equal((await catalog.validate('t', {})).state, 'failed')
    const draft = { $schema: 'http://json-schema.org/draft-07/schema#', type: 'object', required: ['b'] }
    await catalog.observe(schema(draft))
    assert.equal((await catalog.validate('t', { b: 1 })).state, 'ok')
    assert.equal((await catalog.validate('t', { a: 1 })).state, 'failed')
  })
  it('say where a schema cannot be used, or not wholly', async () => {
    const catalog = catalogs.catalog()
    await catalog.observe(schema({ $schema: 'http://json-schema.org/draft-04/schema#' }))
    assert.deepEqual(await catalog.validate('t', {}), { state: 'unsupported' })
    await catalog.observe(schema({ type: 'object', properties: { a: { pattern: '(?=x)y' } } }))
    assert.deepEqual(await catalog.validate('t', { a: 'z' }), { state: 'partial' })
  })
})
