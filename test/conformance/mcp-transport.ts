import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { undici } from 'guard-gateway/plugins/upstream-clients/undici'
import { type Frame, readFrame } from '#lib/json-rpc'
import type { McpLink, McpReply, McpServer, McpSession, McpTransport, StreamEvent } from '#lib/mcp-transport'

/** A server to test a transport with: it answers `initialize`, and any other request with a result. */
export interface TransportSubject {
  readonly server: McpServer
  close(): Promise<void>
}

/** A session as a transport sees one, and what the transport told it. */
export const transportSession = (about: Partial<McpSession> = {}): McpSession & { readonly drops: string[] } => {
  const drops: string[] = []
  return {
    id: 'mcp_test',
    protocol_version: '2025-11-25',
    merged: false,
    projects: null,
    frame_bytes: 1_000_000,
    connect: (address) => undici.connect(address),
    open: async (id) => assert.fail(`There is no transport "${id}" here.`),
    notice: () => {},
    stderr: () => {},
    ...about,
    drops,
    dropped: (reason) => void drops.push(reason),
  }
}

export const transportFrame = (text: string): Frame => {
  const frame = readFrame(Buffer.from(text), 'client')
  if (frame.kind === 'fault') throw new Error(frame.message)
  return frame
}

/** Every event of a reply. */
export const eventsIn = async (reply: McpReply): Promise<readonly StreamEvent[]> => {
  if (reply.form === 'json') return [reply.event]
  if (reply.form !== 'sse') return []
  const events: StreamEvent[] = []
  for await (const event of reply.events) events.push(event)
  return events
}

/** The events of a reply that has not come to its end, one by one. */
export const comingEvents = (reply: McpReply): AsyncIterator<StreamEvent> => {
  assert.ok(reply.form === 'sse' && Symbol.asyncIterator in reply.events, reply.form)
  return reply.events[Symbol.asyncIterator]()
}

const INITIALIZE =
  '{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}'

/** What every way to an MCP server must do. `about`: what its sessions give it, `how`: that in a word. */
export const mcpTransportConforms = (
  transport: McpTransport,
  subject: () => Promise<TransportSubject>,
  about: Partial<McpSession> = {},
  how = '',
): void => {
  const using = async (work: (link: McpLink) => Promise<void>): Promise<void> => {
    const { server, close } = await subject()
    const link = await transport.open(server, transportSession(about))
    try {
      await work(link)
    } finally {
      await link.end()
      await close()
    }
  }

  describe(`MCP transport ${transport.id} ${how}`.trimEnd(), () => {
    it('gives the answer to a request, as a frame with the bytes that came', () =>
      using(async (link) => {
        for (const [text, key] of [
          [INITIALIZE, 'si'],
          ['{"jsonrpc":"2.0","id":5,"method":"x/y","params":{}}', 'n5'],
        ] as const) {
          const events = await eventsIn(await link.post(transportFrame(text)))
          const answer = events.find(({ frame }) => frame?.kind === 'response')?.frame
          assert.equal(answer?.key, key)
          assert.equal(String(answer?.raw), answer?.text)
        }
      }))

    it('takes notifications and responses without an answer', () =>
      using(async (link) => {
        await eventsIn(await link.post(transportFrame(INITIALIZE)))
        for (const text of [
          '{"jsonrpc":"2.0","method":"notifications/initialized"}',
          '{"jsonrpc":"2.0","id":1,"result":{}}',
        ])
          assert.deepEqual(await link.post(transportFrame(text)), { form: 'none', status: 202 })
      }))

    it('serves requests side by side, each with its own answer', () =>
      using(async (link) => {
        await eventsIn(await link.post(transportFrame(INITIALIZE)))
        const ids = [11, 12, 13, 14]
        const replies = await Promise.all(
          ids.map((id) => link.post(transportFrame(`{"jsonrpc":"2.0","id":${id},"method":"x/y","params":{}}`))),
        )
        const keys = await Promise.all(replies.map(async (reply) => (await eventsIn(reply)).at(-1)?.frame?.key))
        assert.deepEqual(keys, ['n11', 'n12', 'n13', 'n14'])
      }))

    it('tells that it is lost when it has ended, and ends once', () =>
      using(async (link) => {
        await eventsIn(await link.post(transportFrame(INITIALIZE)))
        await link.end()
        await link.end()
        assert.notEqual((await link.lost).reason, '')
      }))

    it('offers to listen, or says that there is nothing to listen to', () =>
      using(async (link) => {
        await eventsIn(await link.post(transportFrame(INITIALIZE)))
        const reply = await link.listen()
        assert.ok(reply.form === 'sse' || (reply.form === 'none' && reply.status === 405))
      }))
  })
}
