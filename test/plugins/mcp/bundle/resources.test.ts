import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { fitsTemplate } from '../../../../plugins/mcp/bundle/routing.ts'
import type { McpUpstream } from '../../../kit/mcp-upstream.ts'
import { namesIn, startBundle } from './kit.ts'

const has = (scheme: string, prompt: string) => ({
  capabilities: { resources: { subscribe: true }, prompts: {}, completions: {} },
  results: {
    'resources/list': `{"resources":[{"uri":"${scheme}://one","name":"1"}]}`,
    'resources/templates/list': `{"resourceTemplates":[{"uriTemplate":"${scheme}://by/{id}/data","name":"t"}]}`,
    'prompts/list': `{"prompts":[{"name":"${prompt}"}]}`,
  },
})

const paramsOf = (upstream: McpUpstream, method: string) => upstream.calls(method).map(({ message }) => message?.params)

describe('resources and prompts of a bundle', () => {
  const opened = new AsyncDisposableStack()
  after(() => opened.disposeAsync())

  it('are those of all, and are asked of who has listed them', async () => {
    const one = await startBundle(opened, { up: has('a', 'ask'), two: has('b', 'ask') })
    const client = await one.session()
    assert.deepEqual(namesIn(await client.request('resources/list'), 'resources', 'uri'), ['a://one', 'b://one'])
    await client.request('resources/read', { uri: 'b://one' })
    await client.request('resources/subscribe', { uri: 'a://one' })
    assert.deepEqual(paramsOf(one.two, 'resources/read'), [{ uri: 'b://one' }])
    assert.deepEqual(paramsOf(one.up, 'resources/subscribe'), [{ uri: 'a://one' }])
    assert.deepEqual(namesIn(await client.request('prompts/list'), 'prompts'), ['up_ask', 'two_ask'])
    await client.request('prompts/get', { name: 'two_ask', arguments: { a: '1' } })
    assert.deepEqual(paramsOf(one.two, 'prompts/get'), [{ name: 'ask', arguments: { a: '1' } }])
  })

  it('that nobody has listed are found by templates; an address that fits none is refused', async () => {
    const one = await startBundle(opened, { up: has('a', 'x'), two: has('b', 'y') })
    const client = await one.session()
    await client.request('resources/read', { uri: 'b://by/7/data' })
    assert.deepEqual(paramsOf(one.two, 'resources/read'), [{ uri: 'b://by/7/data' }])
    const none = await client.request('resources/read', { uri: 'file:///etc/passwd' })
    assert.deepEqual([none.json?.error?.code, one.up.calls('resources/read').length], [-32002, 0])
    assert.match(none.text, /not known which to ask/)
  })

  it('of the only server that has any need not be listed', async () => {
    const one = await startBundle(opened, { up: has('a', 'x') })
    const client = await one.session()
    await client.request('resources/read', { uri: 'file:///x' })
    assert.deepEqual(paramsOf(one.up, 'resources/read'), [{ uri: 'file:///x' }])
  })

  it('are completed by their server', async () => {
    const one = await startBundle(opened, { up: has('a', 'x'), two: has('b', 'y') })
    const client = await one.session()
    const argument = { name: 'id', value: '1' }
    await client.request('completion/complete', { ref: { type: 'ref/prompt', name: 'two_y' }, argument })
    await client.request('completion/complete', { ref: { type: 'ref/resource', uri: 'a://by/{id}/data' }, argument })
    assert.deepEqual(paramsOf(one.two, 'completion/complete'), [{ ref: { type: 'ref/prompt', name: 'y' }, argument }])
    assert.deepEqual(paramsOf(one.up, 'completion/complete'), [
      { ref: { type: 'ref/resource', uri: 'a://by/{id}/data' }, argument },
    ])
    assert.match((await client.request('completion/complete', { ref: {}, argument })).text, /-32602/)
  })
})

describe('a template', () => {
  for (const [template, uri, fits] of [
    ['a://x', 'a://x', true],
    ['a://x', 'a://xy', false],
    ['a://{id}', 'a://', true],
    ['a://{id}', 'a://7/8', false],
    ['a://{+path}', 'a://7/8', true],
    ['file:///{+path}.txt', 'file:///a/b.txt', true],
    ['file:///{+path}.txt', 'file:///a/b.md', false],
    ['a://{x}/{y}/z', 'a://1/2/z', true],
    ['a://{x}/{y}/z', 'a://1/z', false],
    ['a://{x}{y}', 'a://12', true],
    ['{scheme}://x', 'b://x', true],
  ] as const)
    it(`${template} ${fits ? 'fits' : 'does not fit'} ${uri}`, () => assert.equal(fitsTemplate(template, uri), fits))

  it('that is hostile costs no more than its length', () => {
    const began = performance.now()
    assert.equal(fitsTemplate('{a}b'.repeat(20_000), `${'b'.repeat(39_999)}c`), false)
    assert.ok(performance.now() - began < 5_000)
  })
})
