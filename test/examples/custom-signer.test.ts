import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Gateway, type ProxyRequest } from 'guard-gateway/core'
import { outboundHeaders } from 'guard-gateway/lib/http'
import { signer } from '../../examples/custom-signer.ts'
import { startService } from '../kit/service.ts'

const account = {
  upstream: '',
  region: 'us-east-1',
  service: 'iam',
  access_key_id: 'AKIDEXAMPLE',
  secret_access_key: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
  session_token: '',
}
const clock = { now: () => Date.UTC(2015, 7, 30, 12, 36), tick: () => 0 }

describe('the example that signs requests', () => {
  it('signs as the documentation of Signature Version 4 does', async () => {
    const gateway = new Gateway({ clock })
    gateway.use(...[signer.create(account)].flat())
    const message = {
      upstream: 'iam',
      method: 'GET',
      url: 'https://iam.amazonaws.com/?Action=ListUsers&Version=2010-05-08',
      headers: ['host', 'iam.amazonaws.com', 'content-type', 'application/x-www-form-urlencoded; charset=utf-8'],
      body: undefined,
    }
    const headers = await outboundHeaders(gateway, message, {} as ProxyRequest)
    assert.deepEqual(headers.slice(4), [
      'x-amz-date',
      '20150830T123600Z',
      'authorization',
      'AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/iam/aws4_request, SignedHeaders=content-type;host;x-amz-date, Signature=5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7',
    ])
  })
  it('signs for the upstream that it is meant for', async () => {
    const plugins = [
      signer.create({ ...account, upstream: 'provider' }),
      signer.create({ ...account, upstream: 'other' }),
    ]
    await using service = await startService({ plugins: plugins.flat() })
    const body = { model: 'm-1', messages: [{ role: 'user', content: 'Hello' }] }
    assert.equal((await service.request('POST', '/v1/chat/completions', body)).status, 200)
    const headers = service.provider.requests[0]?.headers ?? []
    assert.equal(headers.filter((name) => name === 'authorization').length, 1)
    assert.match(headers[headers.indexOf('authorization') + 1] ?? '', /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\//)
  })
})
