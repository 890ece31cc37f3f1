import { connect } from 'node:net'
import { LineReader, LineWriter, readFrame } from 'guard-gateway/lib/json-rpc'
import { type McpLink, type McpReply, mcpTransport } from 'guard-gateway/lib/mcp-transport'

/** MCP servers on a TCP port, one message per line, one connection per session: `target: tcp://127.0.0.1:4000`. */
export const tcp = mcpTransport({
  id: 'tcp',
  async open({ target = '' }, session): Promise<McpLink> {
    const { protocol, hostname, port } = new URL(target)
    if (protocol !== 'tcp:' || port === '') throw new TypeError(`${target} is no address like tcp://127.0.0.1:4000`)
    const socket = connect(Number(port), hostname)
    const out = new LineWriter(socket)
    /** Reply callback by request id. */
    const waiting = new Map<string, (reply: McpReply) => void>()
    const { promise: lost, resolve: lose } = Promise.withResolvers<{ reason: string }>()

    const take = (line: Buffer): void => {
      const frame = readFrame(line, 'server')
      const answered = frame.kind === 'response' ? waiting.get(frame.key ?? '') : undefined
      if (frame.kind !== 'response' || answered === undefined) {
        session.dropped('noise')
        return
      }
      waiting.delete(frame.key ?? '')
      answered({ form: 'json', status: 200, event: { frame } })
    }
    const lines = new LineReader(session.frame_bytes, take, () => session.dropped('overflow'))

    let reason = 'Upstream server closed the connection'
    socket.on('data', (bytes) => lines.push(bytes))
    socket.on('error', ({ message }) => {
      reason = `Upstream server cannot be reached (${message})`
    })
    socket.on('close', () => {
      for (const answered of waiting.values()) answered(unreachable(reason))
      waiting.clear()
      lose({ reason })
    })

    return {
      lost,
      async post(frame) {
        if (!socket.writable && !socket.connecting) return unreachable(reason)
        if (frame.kind !== 'request') {
          await out.write(frame.raw)
          return { form: 'none', status: 202 }
        }
        const { promise, resolve } = Promise.withResolvers<McpReply>()
        waiting.set(frame.key ?? '', resolve)
        await out.write(frame.raw)
        return promise
      },
      // requests and notifications of the server are dropped
      listen: async () => ({ form: 'none', status: 405 }),
      async end() {
        socket.destroy()
        await lost
      },
    }
  },
})

const unreachable = (reason: string): McpReply => ({
  form: 'failed',
  status: 502,
  code: 'UPSTREAM_UNREACHABLE',
  message: `${reason}.`,
})
