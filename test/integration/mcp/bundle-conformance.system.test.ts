import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { serveHttp, TestServer } from '../../../plugins/mcp/test-server/index.ts'
import { keyHop } from '../../kit/key-hop.ts'
import { startMcp } from '../../kit/mcp.ts'
import { type ConformanceResult, mcpConformance } from '../../kit/mcp-conformance.ts'

/** It looks for streams in answers to `tools/list`, which a bundle gives as JSON: no stream, nothing to check. */
const STREAMS = 'server-sse-multiple-streams'

const BUNDLES = `bundles: {
  one: { names: as_is, servers: { test: {} } },
  two: { names: as_is, servers: { test: {}, replay: {} } } }`

describe('the official conformance set for 2025-11-25 through a bundle', () => {
  const opened = new AsyncDisposableStack()
  let direct: ConformanceResult
  let one: ConformanceResult
  let two: ConformanceResult

  before(async () => {
    const server = opened.adopt(await serveHttp(new TestServer(), 0), (open) => open.close())
    const hop = opened.adopt(await keyHop(), (open) => open.close())
    const service = opened.use(
      await startMcp({
        mcp: `allowed_origins: ["${hop.origin}"], ${BUNDLES}`,
        servers: `test: { transport: http, target: "${server.url}" }`,
      }),
    )
    hop.lead(service.gateway.url, service.gateway.key)
    ;[direct, one, two] = await Promise.all([
      mcpConformance(server.url),
      mcpConformance(`${hop.origin}/mcp/one`),
      mcpConformance(`${hop.origin}/mcp/two`),
    ])
  })
  after(() => opened.disposeAsync())

  for (const [what, result] of [
    ['one server', () => one],
    ['another server besides', () => two],
  ] as const)
    it(`has the same result as without, where the bundle has ${what}`, () => {
      const { failed, scenarios, log } = result()
      assert.deepEqual([failed, scenarios], [0, { ...direct.scenarios, [STREAMS]: [1, 0] }], log)
    })
})
