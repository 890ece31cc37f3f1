import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { upstreamAddress } from '#lib/network'

describe('the address of a server', () => {
  const limits = { connect_ms: 1, idle_ms: 2 }
  for (const [url, secure, hostname, port] of [
    ['https://api.example.com/v1', true, 'api.example.com', 443],
    ['http://api.example.com', false, 'api.example.com', 80],
    ['https://api.example.com:8443/', true, 'api.example.com', 8443],
    ['http://[::1]:4318/v1/traces', false, '::1', 4318],
    ['http://127.0.0.1:80', false, '127.0.0.1', 80],
  ] as const)
    it(url, () =>
      assert.deepEqual(upstreamAddress(new URL(url), limits), { secure, hostname, port, connect_ms: 1, idle_ms: 2 }),
    )
})
