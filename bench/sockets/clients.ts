import { once } from 'node:events'
import { request } from 'node:http'
import { WebSocket } from 'ws'
import { KEY } from '../load/gateway-process.ts'

const headers = { authorization: `Bearer ${KEY}` }
const STAMP = /"at":"(\d+)"/

let inputs = 0

const bodyOf = (more: object): string => {
  inputs++
  return JSON.stringify({ ...more, model: 'bench', input: `Write something, number ${inputs}.`, stream: true })
}

/** Milliseconds since a piece was sent; undefined for what bears no stamp. */
const delayOf = (text: string): number | undefined => {
  const [, at] = STAMP.exec(text) ?? []
  return at === undefined ? undefined : Number(process.hrtime.bigint() - BigInt(at)) / 1e6
}

/** Connects and gives the socket. */
export const connect = async (port: number): Promise<WebSocket> => {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/v1/responses`, { headers, perMessageDeflate: false })
  await once(socket, 'open')
  return socket
}

/** Asks over a WebSocket; gives the delay of each piece in milliseconds. */
export const socketDelays = async (port: number): Promise<readonly number[]> => {
  const socket = await connect(port)
  const delays: number[] = []
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  socket.on('message', (data) => {
    const text = String(data)
    const delay = delayOf(text)
    if (delay !== undefined) delays.push(delay)
    else if (text.includes('"response.completed"')) resolve()
  })
  socket.once('close', () => reject(new Error('the socket closed before its response ended')))
  socket.send(bodyOf({ type: 'response.create' }))
  await promise
  socket.removeAllListeners('close').terminate()
  return delays
}

/** The same by a request that is answered as a stream of events. */
export const streamDelays = (port: number): Promise<readonly number[]> =>
  new Promise((resolve, reject) => {
    const sent = request(
      {
        host: '127.0.0.1',
        port,
        path: '/v1/responses',
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
      },
      (response) => {
        const delays: number[] = []
        let rest = ''
        response.setEncoding('utf8').on('data', (chunk: string) => {
          const events = (rest + chunk).split('\n\n')
          rest = events.pop() ?? ''
          for (const event of events) {
            const delay = delayOf(event)
            if (delay !== undefined) delays.push(delay)
          }
        })
        response.once('end', () => resolve(delays)).once('error', reject)
      },
    )
    sent.once('error', reject)
    sent.end(bodyOf({}))
  })
