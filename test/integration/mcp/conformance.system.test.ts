import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { serveHttp, TestServer } from '../../../plugins/mcp/test-server/index.ts'
import { keyHop } from '../../kit/key-hop.ts'
import { startMcp } from '../../kit/mcp.ts'
import { type ConformanceResult, mcpConformance } from '../../kit/mcp-conformance.ts'
import { testServerChild } from '../../kit/mcp-proxy.ts'

const CHECKS = 84

/** What is about streams of HTTP has nothing to check where the server has none: the proxy answers as JSON there. */
const STREAMS = 'server-sse-multiple-streams'
const POLLING = 'server-sse-polling'

describe('the official conformance set for 2025-11-25', () => {
  const opened = new AsyncDisposableStack()
  let direct: ConformanceResult
  let overHttp: ConformanceResult
  let overStdio: ConformanceResult

  before(async () => {
    const server = opened.adopt(await serveHttp(new TestServer(), 0), (one) => one.close())
    const hop = opened.adopt(await keyHop(), (one) => one.close())
    const service = opened.use(
      await startMcp({
        mcp: `allowed_origins: ["${hop.origin}"]`,
        servers: `direct: { transport: http, target: "${server.url}" }, child: ${JSON.stringify(testServerChild())}`,
      }),
    )
    hop.lead(service.gateway.url, service.gateway.key)
    const urls = [server.url, `${hop.origin}/mcp/direct`, `${hop.origin}/mcp/child`] as const
    ;[direct, overHttp, overStdio] = await Promise.all([
      mcpConformance(urls[0]),
      mcpConformance(urls[1]),
      mcpConformance(urls[2]),
    ])
  })
  after(() => opened.disposeAsync())

  it('passes against the test server', () => {
    assert.deepEqual([direct.passed, direct.failed], [CHECKS, 0], direct.log)
  })

  it('has the same result through the proxy, from HTTP to HTTP', () => {
    assert.deepEqual(overHttp.scenarios, direct.scenarios, overHttp.log)
  })

  it('has no failure through the proxy from HTTP to stdio', () => {
    const { [STREAMS]: _streams, [POLLING]: _polling, ...rest } = direct.scenarios
    const { [STREAMS]: streams, [POLLING]: polling, ...same } = overStdio.scenarios
    assert.equal(overStdio.failed, 0, overStdio.log)
    assert.deepEqual(same, rest, overStdio.log)
    assert.deepEqual(
      [streams, polling],
      [
        [1, 0],
        [0, 0],
      ],
      overStdio.log,
    )
  })
})
