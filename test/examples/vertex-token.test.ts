import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type Token, vertexToken } from '../../examples/vertex-token.ts'
import { startService } from '../kit/service.ts'

const path =
  '/v1beta1/projects/p/locations/europe-west4/publishers/google/models/gemini-2.5-flash:streamGenerateContent?alt=sse'
const body = (text: string) => ({ contents: [{ role: 'user', parts: [{ text }] }] })

describe('Gemini at Vertex AI', () => {
  it('is shown a token, which is renewed before it ends and asked for once', async () => {
    const given: { value: string; expires_at: number }[] = []
    const renew = async (): Promise<Token> => {
      const token = { value: `ya29.token-number-${given.length + 1}`, expires_at: Date.now() + 3_600_000 }
      given.push(token)
      return token
    }
    await using service = await startService({
      plugins: [vertexToken({ upstream: 'vertex', renew })],
      upstreams: (url) => `[{ name: vertex, base_url: "${url}", auth: none, styles: [gemini] }]`,
    })
    const ask = async (text: string) => {
      const { status } = await service.request('POST', path, body(text))
      assert.equal(status, 200)
      const { headers, path: asked } = service.provider.last
      assert.equal(asked, path)
      return headers[headers.findIndex((name) => name.toLowerCase() === 'authorization') + 1]
    }
    assert.deepEqual(await Promise.all(['a', 'b', 'c'].map(ask)), Array(3).fill('Bearer ya29.token-number-1'))
    assert.equal(await ask('d'), 'Bearer ya29.token-number-1')
    for (const token of given) token.expires_at = Date.now() + 30_000
    assert.deepEqual(await Promise.all(['e', 'f'].map(ask)), Array(2).fill('Bearer ya29.token-number-2'))
    assert.equal(given.length, 2)
  })

  it('is not asked where there is no token; the next request asks for one again', async () => {
    let fails = true
    const renew = async (): Promise<Token> => {
      if (fails) throw new Error('no login')
      return { value: 'ya29.another-token', expires_at: Date.now() + 3_600_000 }
    }
    await using service = await startService({
      plugins: [vertexToken({ upstream: 'vertex', renew })],
      upstreams: (url) => `[{ name: vertex, base_url: "${url}", auth: none, styles: [gemini] }]`,
    })
    const failed = await service.request('POST', path, body('a'))
    assert.deepEqual([failed.status, service.provider.requests.length], [500, 0])
    assert.doesNotMatch(failed.text, /no login/)
    fails = false
    assert.equal((await service.request('POST', path, body('b'))).status, 200)
  })
})
