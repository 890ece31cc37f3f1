import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Gateway, type OutboundHead, type ProxyRequest, type ReplyHead } from 'guard-gateway/core'
import { outboundHeaders, replyHeaders } from '#lib/http'

const request = {} as ProxyRequest
const headers = ['Host', 'a.example', 'X-One', '1', 'x-two', '2', 'x-ONE', '3', 'content-length', '5']
const message = { upstream: 'a', method: 'POST', url: 'http://a.example/v1/x?y=1', headers, body: Buffer.from('hello') }

/** The headers after one tap, and what it threw. */
const tapped = async (act: (head: OutboundHead) => unknown) => {
  const gateway = new Gateway()
  let thrown: unknown
  gateway.hooks.outbound.tapPromise('mine', async (head) => {
    try {
      await act(head)
    } catch (error) {
      thrown = error
    }
  })
  return { headers: await outboundHeaders(gateway, message, request), thrown }
}

describe('the head of a message in a hook', () => {
  it('tells all that is sent', async () => {
    await tapped((head) => {
      assert.deepEqual([head.upstream, head.method, head.url], ['a', 'POST', 'http://a.example/v1/x?y=1'])
      assert.equal(Buffer.from(head.body ?? []).toString(), 'hello')
      assert.deepEqual(head.headers, headers)
      assert.deepEqual([head.get('HOST'), head.get('x-one'), head.get('absent')], ['a.example', '1', undefined])
    })
  })
  it('is set, added to and taken from, and keeps order and spelling of the rest', async () => {
    const set = await tapped((head) => head.set('X-One', '4'))
    assert.deepEqual(set.headers, ['Host', 'a.example', 'X-One', '4', 'x-two', '2', 'content-length', '5'])
    const added = await tapped((head) => head.append('x-two', '5'))
    assert.deepEqual(added.headers, [...headers, 'x-two', '5'])
    const fresh = await tapped((head) => head.set('x-three', 'é'))
    assert.deepEqual(fresh.headers, [...headers, 'x-three', 'é'])
    const removed = await tapped((head) => head.remove('X-one'))
    assert.deepEqual(removed.headers, ['Host', 'a.example', 'x-two', '2', 'content-length', '5'])
  })
  it('takes nothing that breaks the framing of the message, whatever a plugin in JavaScript tries', async () => {
    const odd = (name: unknown, value: unknown) => [
      (head: OutboundHead) => head.set(name as string, value as string),
      (head: OutboundHead) => head.append(name as string, value as string),
    ]
    const tries = [
      ...['content-length', 'Transfer-Encoding', 'CONNECTION', 'upgrade', 'host', 'content-encoding', 'te'].flatMap(
        (name) => [...odd(name, '1'), (head: OutboundHead) => head.remove(name)],
      ),
      ...odd('sec-websocket-key', 'x'),
      ...odd('x-a', 'one\r\nx-b: two'),
      ...odd('x-a', 'nul\0'),
      ...odd('x-a', '€'),
      ...odd('x-a\r\nx-b', 'two'),
      ...odd('x a', 'two'),
      ...odd('', 'two'),
      ...odd(undefined, 'two'),
      ...odd('x-a', undefined),
      ...odd('x-a', 7),
      ...odd('x-a', ['a', 'b']),
      ...odd({ toLowerCase: () => 'x-a' }, 'two'),
    ]
    for (const act of tries) {
      const { headers: after, thrown } = await tapped(act)
      assert.ok(thrown instanceof TypeError, String(act))
      assert.deepEqual(after, headers)
    }
    const pushed = await tapped((head) => {
      ;(head.headers as string[]).push('transfer-encoding', 'chunked')
      Reflect.set(head, 'url', 'http://b.example')
    })
    assert.deepEqual(pushed.headers, headers)
  })
  it('cannot be changed once it is sent', async () => {
    let kept: OutboundHead | undefined
    await tapped((head) => {
      kept = head
    })
    assert.throws(() => kept?.set('x-late', '1'), /has been sent; the header "x-late" comes too late/)
  })
  it('is refused by whoever throws, under the name of the tap', async () => {
    const gateway = new Gateway()
    gateway.hooks.outbound.tap('signer', (head) => head.set('content-length', '0'))
    const error = await outboundHeaders(gateway, message, request).catch((thrown: unknown) => thrown as Error)
    assert.match(String((error as Error).cause), /"content-length" frames the message: only the gateway sets it/)
    const { errorOrigin } = await import('guard-gateway/core')
    assert.equal(errorOrigin(error), 'outbound:signer')
  })
  it('of a reply goes on without the tap that throws', () => {
    const gateway = new Gateway()
    const faults: string[] = []
    gateway.hooks.fault.tap('test', (error, where) => void faults.push(`${where} ${String(error)}`))
    gateway.hooks.reply.tap('bad', (head: ReplyHead) => head.set('x-a', 'one\ntwo'))
    gateway.hooks.reply.tap('good', (head: ReplyHead) => head.set('x-status', String(head.status)))
    assert.deepEqual(replyHeaders(gateway, 201, ['a', 'b'], undefined), ['a', 'b', 'x-status', '201'])
    assert.match(faults.join(), /^reply:bad TypeError.*Invalid character in header content/)
  })
})
