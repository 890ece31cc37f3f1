import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { rawHttp } from '../../../kit/raw-http.ts'
import { KEY, type Started, start } from '../kit.ts'

describe('a path that is percent-encoded', () => {
  let running: Started
  before(async () => {
    running = await start({ passthrough: ['/v1/files/**', '/v1/containers/**', '/v1/embeddings'] })
  })
  after(() => running[Symbol.asyncDispose]())

  const send = (method: string, target: string, upgrade = false) =>
    rawHttp(
      running.port,
      [
        `${method} ${target} HTTP/1.1`,
        `host: 127.0.0.1:${running.port}`,
        `authorization: Bearer ${KEY}`,
        ...(upgrade
          ? ['connection: upgrade', 'upgrade: websocket', 'sec-websocket-version: 13']
          : ['connection: close', 'content-type: application/json', 'content-length: 2']),
        '',
        upgrade ? '' : '{}',
      ].join('\r\n'),
    )

  for (const [method, target] of [
    ['GET', '/v1/%72esponses/resp_X'],
    ['GET', '/v1/%2572esponses/resp_X'],
    ['GET', '/v1/%25%37%32esponses/resp_X'],
    ['GET', '/v1/respons%65s/resp_X/input_items'],
    ['GET', '/v1%2fresponses%2fresp_X'],
    ['GET', '/v1%2Fresponses/resp_X'],
    ['GET', '/v1/responses%2fresp_X'],
    ['GET', '/v1/responses%252Fresp_X'],
    ['GET', '/v1/responses/resp_X%2finput_items'],
    ['GET', '/v1/responses/resp_X/input%5Fitems'],
    ['GET', '/%761/responses/resp_X'],
    ['GET', '/v%31/responses/resp_X'],
    ['GET', '/v1/v1/%72esponses/resp_X'],
    ['GET', '/responses%2fresp_X'],
    ['POST', '/v1/%72esponses'],
    ['POST', '/v1/responses/%63ompact'],
    ['POST', '/v1/chat%2fcompletions'],
    ['POST', '/v1/mess%61ges'],
    ['DELETE', '/v1/conversations%2fconv_X'],
    ['GET', '/v1/c%6fnversations/conv_X/items'],
    ['GET', '/v1/conversations/conv_X/%69tems'],
    ['POST', '/v1beta/models/gemini-pro:%67enerateContent'],
    ['POST', '/v1beta%2fmodels/gemini-pro:generateContent'],
    ['GET', '/v1/m%6fdels/m'],
    ['GET', '/v1/f%69les/file-X/content'],
    ['GET', '/v1/files/file-X/c%6fntent'],
    ['GET', '/v1/files%2ffile-X'],
    ['GET', '/v1/containers/cntr_X/%66iles/cfile_X'],
    ['POST', '/v1/embedding%73'],
  ] as const)
    it(`is refused where its fixed part is: ${method} ${target}`, async () => {
      const before = running.provider.requests.length
      const got = await send(method, target)
      assert.equal(got.status, 400, got.body)
      assert.match(got.body, /ENCODED_PATH|stands for itself/)
      assert.equal(running.provider.requests.length, before)
    })

  it('is refused at a WebSocket too', async () => {
    assert.equal((await send('GET', '/v1/%72esponses', true)).status, 400)
    assert.equal((await send('GET', '/v1%2fresponses', true)).status, 400)
  })

  for (const target of [
    '/v1/responses/resp_X%20',
    '/v1/responses/%20resp_X',
    '/v1/responses/resp_X.',
    '/v1/responses/resp_X%2e',
    '/v1/responses/resp_X%3b',
    '/v1/responses/resp_X%252e',
    '/v1/responses/resp_X/',
    '/v1/responses/resp_X%c2%a0',
    '/v1/conversations/conv_X%20/items',
  ])
    it(`leads nowhere where an id ends in what another server cuts off: ${target}`, async () => {
      const before = running.provider.requests.length
      assert.equal((await send('GET', target)).status, 404)
      assert.equal(running.provider.requests.length, before)
    })

  for (const [method, target] of [
    ['GET', '/v1/responses/%72esp_X'],
    ['GET', '/v1/responses/resp%3AX'],
    ['GET', '/v1/models/org%2Fm%2D1'],
    ['POST', '/v1beta/models/gemini-pro%3AgenerateContent'],
    ['POST', '/v1beta/models%2Fgemini-pro:generateContent'],
    ['GET', '/v1/files/file%2DX/content'],
  ] as const)
    it(`goes up as it came where an id or a model is: ${method} ${target}`, async () => {
      const got = await send(method, target)
      assert.equal(got.status, 200, got.body)
      assert.equal(running.provider.last.path, target)
    })
})
