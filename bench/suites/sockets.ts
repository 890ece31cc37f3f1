import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { median, printTable } from '../kit/table.ts'
import { Child } from '../load/child.ts'
import { startGateway } from '../load/gateway-process.ts'
import { type BenchOptions, isChosen } from '../options.ts'
import { programFile } from '../programs.ts'
import { connect, socketDelays, streamDelays } from '../sockets/clients.ts'

/** Responses under way at once. */
const CLIENTS = 10
const OPEN = 1_000
/** Sockets that are opened and closed before anything is measured. */
const WARM = 200
const CALM_MS = 1_500

/** Milliseconds that the gateway adds to a piece of a response: the difference of the medians of one round, and their median. */
export interface AddedDelay {
  readonly way: 'socket' | 'stream'
  readonly direct_p50_ms: number
  readonly gateway_p50_ms: number
  readonly added_p50_ms: number
  readonly added_p99_ms: number
  readonly pieces: number
}

export interface SocketFigures {
  readonly delays: readonly AddedDelay[]
  /** Bytes of the gateway's resident memory for an idle connection, both its ends; null: not measured. */
  readonly bytes_per_socket: number | null
  readonly open: number
}

export const socketNames = (): readonly string[] => ['sockets_delay', 'sockets_memory']

/** Measures what the gateway adds to a message, and what an idle connection takes. */
export const runSockets = async (options: BenchOptions, log: (line: string) => void): Promise<SocketFigures> => {
  const folder = await mkdtemp(join(tmpdir(), 'guard-bench-'))
  const children: Child[] = []
  const start = (...args: ConstructorParameters<typeof Child>): Child => {
    const child = new Child(...args)
    children.push(child)
    return child
  }
  try {
    const provider = start('provider', programFile('bench/sockets/provider'))
    const upstream = await provider.request('listen', { upstream: 0 })
    const settings = { upstream, storage: 'backend: sqlite', styles: ['responses'], websocket_connections: 2 * OPEN }
    const { child, port } = await startGateway(start, 'gateway', folder, settings)
    const delays: AddedDelay[] = []
    if (isChosen(options, 'sockets_delay')) {
      log('sockets_delay: pieces of responses by WebSocket and by event stream')
      delays.push(...(await addedDelays(upstream, port, options)))
    }
    const measured = isChosen(options, 'sockets_memory')
    const open = options.smoke ? 20 : OPEN
    if (measured) log(`sockets_memory: ${open} idle connections`)
    const bytes_per_socket = measured ? await bytesPerSocket(child, port, open) : null
    return { delays, bytes_per_socket, open }
  } finally {
    await Promise.all(children.map((child) => child.stop()))
    await rm(folder, { recursive: true, force: true })
  }
}

const ways = { socket: socketDelays, stream: streamDelays } as const

const addedDelays = async (
  direct: number,
  gateway: number,
  { smoke, rounds }: BenchOptions,
): Promise<readonly AddedDelay[]> => {
  const measure = async (way: keyof typeof ways, port: number): Promise<readonly number[]> =>
    (await Promise.all(Array.from({ length: smoke ? 1 : CLIENTS }, () => ways[way](port)))).flat()
  const found = new Map<string, { p50: number[]; p99: number[]; direct: number[]; gateway: number[]; pieces: number }>()
  // the first round compiles the code and is left out
  for (let round = smoke ? 1 : 0; round <= (smoke ? 1 : rounds); round++) {
    for (const way of ['socket', 'stream'] as const) {
      const [own, other] = [await measure(way, direct), await measure(way, gateway)]
      if (round === 0) continue
      const sums = found.get(way) ?? { p50: [], p99: [], direct: [], gateway: [], pieces: 0 }
      found.set(way, sums)
      sums.direct.push(quantile(own, 0.5))
      sums.gateway.push(quantile(other, 0.5))
      sums.p50.push(quantile(other, 0.5) - quantile(own, 0.5))
      sums.p99.push(quantile(other, 0.99) - quantile(own, 0.99))
      sums.pieces += other.length
    }
  }
  return [...found].map(([way, sums]) => ({
    way: way as AddedDelay['way'],
    direct_p50_ms: median(sums.direct),
    gateway_p50_ms: median(sums.gateway),
    added_p50_ms: median(sums.p50),
    added_p99_ms: median(sums.p99),
    pieces: sums.pieces,
  }))
}

const quantile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? Number.NaN

const bytesPerSocket = async (gateway: Child, port: number, count: number): Promise<number> => {
  const opened = (number: number) => Promise.all(Array.from({ length: number }, () => connect(port)))
  for (const socket of await opened(Math.min(WARM, count))) socket.terminate()
  await calm()
  const { rss_bytes: before } = await gateway.request('usage', null)
  const sockets: Awaited<ReturnType<typeof connect>>[] = []
  for (let left = count; left > 0; left -= 100) sockets.push(...(await opened(Math.min(100, left))))
  await calm()
  const { rss_bytes: after } = await gateway.request('usage', null)
  for (const socket of sockets) socket.terminate()
  return Math.round((after - before) / count)
}

const calm = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, CALM_MS))

/** The figures as a table. */
export const socketsText = ({ delays, bytes_per_socket, open }: SocketFigures): string => {
  const ms = (value: number): string => value.toFixed(3)
  const rows = delays.map((one) => [
    one.way,
    ms(one.direct_p50_ms),
    ms(one.gateway_p50_ms),
    ms(one.added_p50_ms),
    ms(one.added_p99_ms),
    String(one.pieces),
  ])
  const table = printTable(
    ['pieces by', 'direct p50 ms', 'gateway p50 ms', 'added p50 ms', 'added p99 ms', 'pieces'],
    rows,
  )
  const memory =
    bytes_per_socket === null ? '' : `\n${open} idle connections: ${(bytes_per_socket / 1024).toFixed(1)} KiB each`
  return `${delays.length === 0 ? '' : table}${memory}`
}
