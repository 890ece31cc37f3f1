import assert from 'node:assert/strict'
import { once } from 'node:events'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { describe, it } from 'node:test'
import { type McpService, resultOf, startMcp } from '../../../kit/mcp.ts'
import { sendJson } from '../../../kit/mcp-upstream.ts'

const policy = (results: string): string => `version: 1\ndefault: allow\nresults: [${results}]\nrules: []\n`
const everything = (action: string, cut = action): string =>
  policy(
    `{ secrets: { action: ${action} } }, { injection: { action: ${action} } }, { size: { max_bytes: 50000, action: ${cut} } }`,
  )

const serving = async (options: Parameters<typeof startMcp>[0], result: () => string): Promise<McpService> => {
  const service = await startMcp(options)
  service.upstream.answering = ({ message }, response) =>
    message?.method === 'tools/call' && sendJson(response, `{"jsonrpc":"2.0","id":${message.id},"result":${result()}}`)
  return service
}
const textOfBytes = (bytes: number): string =>
  JSON.stringify({ content: [{ type: 'text', text: 'A line of an ordinary text, 1 of many.\n'.repeat(bytes / 39) }] })

describe('large results', () => {
  it('of 100 MB are refused while they come, and the gateway goes on', async () => {
    await using service = await serving({ policy: everything('redact', 'cut') }, () => '')
    service.upstream.answering = async ({ message }, response) => {
      if (message?.method !== 'tools/call') return false
      response.writeHead(200, { 'content-type': 'application/json' })
      response.write(`{"jsonrpc":"2.0","id":${message.id},"result":{"content":[{"type":"text","text":"`)
      const line = 'x'.repeat(1_000_000)
      for (let sent = 0; sent < 100 && !response.destroyed; sent++)
        if (!response.write(line)) await Promise.race([once(response, 'drain'), once(response, 'close')])
      response.end('"}]}}')
      return true
    }
    const client = await service.session()
    assert.match((await client.call('t')).text, /larger than 16777216 bytes|Upstream/)
    assert.equal((await client.request('ping')).status, 200)
  })
  it('beyond what is examined pass in shadow, recorded as not told, and are withheld otherwise', async () => {
    await using service = await serving({ policy: everything('shadow') }, () => textOfBytes(9_000_000))
    const client = await service.session()
    assert.equal((await client.call('t')).text.length > 8_900_000, true)
    const { json } = await service.gateway.request('GET', '/api/v1/mcp/events?kind=decision')
    const [event] = (json as { events: readonly { result_findings: readonly { certain: boolean }[] }[] }).events
    assert.deepEqual(
      event?.result_findings.map(({ certain }) => certain),
      [false, false, false],
    )
    await service.policy(everything('redact', 'cut'))
    assert.match(
      JSON.stringify(resultOf(await client.call('t'))),
      /larger than the 4194304 characters that are examined/,
    )
  })
  it('of more values than anybody reads are not examined, whatever they are made of', async () => {
    let result = ''
    await using service = await serving({ policy: everything('shadow') }, () => result)
    const client = await service.session()
    for (const [name, made] of Object.entries({
      items: `{"content":[${'{},'.repeat(300_000)}{}]}`,
      texts: `{"content":[],"structuredContent":{"a":[${'"b",'.repeat(200_000)}"b"]}}`,
      structure: `{"content":[],"structuredContent":[${'1,'.repeat(1_000_000)}1]}`,
    })) {
      result = made
      assert.ok((await client.call('t')).text.endsWith(`${made}}`), name)
      const { json } = await service.gateway.request('GET', '/api/v1/mcp/events?kind=decision&limit=1')
      const [event] = (json as { events: readonly { result_findings: readonly { reason: string }[] }[] }).events
      assert.match(String(event?.result_findings[0]?.reason), /has more than the|is larger than the/, name)
    }
  })
  it('are examined in turns with everything else, and cut', async () => {
    await using service = await serving({ policy: everything('redact', 'cut') }, () => textOfBytes(2_000_000))
    const client = await service.session()
    await client.call('t')
    const delay = monitorEventLoopDelay({ resolution: 5 })
    delay.enable()
    const { text } = await client.call('t')
    delay.disable()
    assert.ok(text.length < 60_000)
    assert.match(text, /cut by Guard: \d+ of \d+ bytes left out|not examined by Guard/)
    // a turn is 5 ms; reading and writing 2 MB are some turns at a stretch
    assert.ok(delay.max / 1e6 < 1_000, `${delay.max / 1e6} ms`)
  })
})
