import assert from 'node:assert/strict'
import { createHash, createHmac } from 'node:crypto'
import { describe, it } from 'node:test'
import { bedrockMessages } from '../../examples/bedrock-messages.ts'
import { signer } from '../../examples/custom-signer.ts'
import type { ReceivedRequest } from '../kit/provider.ts'
import { messagesReply } from '../kit/replies.ts'
import { decisionOf, startService } from '../kit/service.ts'

const SECRET = 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY'
const account = {
  upstream: 'bedrock',
  region: 'eu-central-1',
  service: 'bedrock',
  access_key_id: 'AKIDEXAMPLE',
  secret_access_key: SECRET,
  session_token: 'session-token-of-an-hour',
}

const hmac = (key: string | Uint8Array, text: string): Buffer => createHmac('sha256', key).update(text).digest()
const hash = (data: string | Uint8Array): string => createHash('sha256').update(data).digest('hex')
const twice = (part: string): string =>
  encodeURIComponent(part).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)

/** The signature that AWS computes for a request as it has come: of the path as it stands on the wire, and of every byte of the body. */
const expected = ({ method, path, headers, body }: ReceivedRequest, authorization: string): string => {
  const [, scope = '', signed = ''] =
    /Credential=[^/]+\/(\d{8}\/[^/]+\/[^/]+\/aws4_request), SignedHeaders=([^,]+)/.exec(authorization) ?? []
  const headerOf = (name: string) =>
    headers[headers.findIndex((text, at) => at % 2 === 0 && text.toLowerCase() === name) + 1]
  const request = [
    method,
    path.split('/').map(twice).join('/'),
    '',
    ...signed.split(';').map((name) => `${name}:${headerOf(name)?.trim()}`),
    '',
    signed,
    hash(body),
  ].join('\n')
  const key = scope.split('/').reduce<string | Buffer>((before, part) => hmac(before, part), `AWS4${SECRET}`)
  return hmac(key, ['AWS4-HMAC-SHA256', headerOf('x-amz-date'), scope, hash(request)].join('\n')).toString('hex')
}

const body = { anthropic_version: 'bedrock-2023-05-31', max_tokens: 64, messages: [{ role: 'user', content: 'Hällo' }] }

describe('Messages at Amazon Bedrock', () => {
  for (const path of ['/model/anthropic.claude-3-v2:0/invoke', '/model/anthropic.claude-3-v2%3A0/invoke'])
    it(`are signed as they are sent, and judged: ${path}`, async () => {
      await using service = await startService({
        config: 'default_mode: enforce',
        plugins: [bedrockMessages, ...[signer.create(account)].flat()],
        upstreams: (url) => `[{ name: bedrock, base_url: "${url}", auth: none, styles: [bedrock_messages] }]`,
      })
      const { body: reply } = messagesReply(false)
      const headers = { 'x-guard-session-id': 'one' }
      for (let turn = 1; turn < 4; turn++) {
        service.provider.script({ body: reply })
        const answer = await service.request('POST', path, body, headers)
        assert.deepEqual(
          [answer.status, decisionOf(answer).reason],
          turn < 3 ? [200, null] : [429, 'LOOP_EXACT'],
          answer.text,
        )
      }
      const { last } = service.provider
      assert.equal(last.path, path)
      assert.equal(last.body.toString(), JSON.stringify(body))
      const at = last.headers.findIndex((name, index) => index % 2 === 0 && name.toLowerCase() === 'authorization')
      const authorization = last.headers[at + 1] ?? ''
      assert.match(authorization, /SignedHeaders=[^,]*host;[^,]*x-amz-date;x-amz-security-token/)
      assert.equal(/Signature=(\w+)$/.exec(authorization)?.[1], expected(last, authorization))
      const { rows } = await service.gateway.gateway.storage.find('calls', { limit: 5 })
      assert.deepEqual(new Set(rows.map((row) => row.model_requested)), new Set(['anthropic.claude-3-v2:0']))
      assert.equal((await service.session('one')).total_tokens, 50)
    })
})
