import { connect, type Socket } from 'node:net'

/** What came back over a socket. */
export interface RawAnswer {
  readonly status: number
  /** Names in lower case; the last value of each. */
  readonly headers: Readonly<Record<string, string>>
  /** Name and value of each header line, in order, as they came. */
  readonly lines: readonly string[]
  /** Everything behind the head, chunk sizes included. */
  readonly body: string
  /** Everything. */
  readonly bytes: Buffer
}

/** Writes bytes to a port of this machine and reads until the other side closes. */
export const rawHttp = async (port: number, text: string | Uint8Array): Promise<RawAnswer> => {
  const socket = connect(port, '127.0.0.1')
  socket.write(text)
  return parsed(await untilClosed(socket))
}

/** All bytes that come before the connection ends, in whatever way it ends. */
export const untilClosed = async (socket: Socket): Promise<Buffer> => {
  const chunks: Buffer[] = []
  socket.on('data', (chunk: Buffer) => chunks.push(chunk))
  socket.on('error', () => {})
  // not events.once, which takes an error for the end of the wait
  await new Promise<void>((resolve) => socket.once('close', () => resolve()))
  return Buffer.concat(chunks)
}

/** The first answer in bytes that came over a socket. */
export const parsed = (bytes: Buffer): RawAnswer => {
  const text = bytes.toString('latin1')
  const end = text.indexOf('\r\n\r\n')
  const [first = '', ...lines] = text.slice(0, Math.max(end, 0)).split('\r\n')
  const pairs = lines.map((line) => [
    line.slice(0, line.indexOf(':')).toLowerCase(),
    line.slice(line.indexOf(':') + 1).trim(),
  ])
  return {
    status: Number(first.split(' ')[1] ?? 0),
    headers: Object.fromEntries(pairs) as Record<string, string>,
    lines,
    body: end === -1 ? '' : text.slice(end + 4),
    bytes,
  }
}
