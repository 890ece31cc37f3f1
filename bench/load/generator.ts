import { Connection } from './connection.ts'
import { onMessage, waitForParent } from './message-handlers.ts'
import { repliesOf } from './replies.ts'
import { connectionName, RequestWriter } from './request-writer.ts'
import { crowd, type ReplyPlan, type Shape, shapes, steady } from './shapes.ts'
import { type Counted, Tally } from './tally.ts'

export interface OpenOptions {
  readonly shape: string
  /** The reply of the provider, which determines the expected length. */
  readonly reply: ReplyPlan
  readonly port: number
  /** The gateway key. */
  readonly key: string
  /** Numbers the sets of connections. No two sets send equal conversations. */
  readonly set: number
  readonly connections: number
}

/** The number of requests that were sent when the connections opened. */
export interface Opened {
  readonly sent: number
}

export interface RunOptions {
  readonly set: number
  readonly requests: number
  /** Requests per second. Absent: each connection sends its next request after the previous response. */
  readonly rate?: number
}

export interface RunResult extends Counted {
  readonly wall_ms: number
}

export interface CloseOptions {
  readonly set: number
}

/** The connections for one target and shape. */
interface Clients {
  readonly shape: Shape
  readonly connections: readonly Connection[]
  readonly reply_bytes: number
}

const every = new Map([...shapes(), crowd, steady].map((shape) => [shape.id, shape]))
const sets = new Map<number, Clients>()

onMessage('open', async ({ shape: id, reply, port, key, set, connections: count }) => {
  const shape = every.get(id)
  if (shape === undefined) throw new Error(`there is no shape "${id}"`)
  const connections: Connection[] = []
  for (let index = 0; index < count; index++)
    connections.push(await Connection.open(port, new RequestWriter(shape, port, key, connectionName(set, index))))
  const opened = { shape, connections, reply_bytes: repliesOf(reply).body_bytes }
  sets.set(set, opened)
  if (!shape.opened) return { sent: 0 }
  const tally = new Tally(opened.reply_bytes)
  for (const connection of connections) await asked(connection, tally, performance.now())
  const { failed, errors } = tally.counted(connections.length)
  if (failed > 0) throw new Error(`${failed} opening requests failed: ${errors.join('; ')}`)
  return { sent: connections.length }
})

onMessage('run', async ({ set, requests, rate }) => {
  const opened = sets.get(set)
  if (opened === undefined) throw new Error(`no connections were opened as set ${set}`)
  const tally = new Tally(opened.reply_bytes)
  const start = performance.now()
  if (rate === undefined) await closedLoop(opened.connections, requests, tally)
  else await openLoop(opened.connections, requests, rate, tally)
  return { ...tally.counted(requests), wall_ms: performance.now() - start }
})

onMessage('close', ({ set }) => {
  for (const connection of sets.get(set)?.connections ?? []) connection.close()
  sets.delete(set)
  return true
})
waitForParent()

const asked = async (connection: Connection, tally: Tally, due: number): Promise<boolean> => {
  try {
    const reply = await connection.exchange()
    tally.replied(reply, performance.now() - due)
    return true
  } catch (error) {
    tally.failed(error instanceof Error ? error.message : String(error))
    return false
  }
}

/** Closed loop: each connection sends its next request after the previous response, up to `requests` in total. */
const closedLoop = async (connections: readonly Connection[], requests: number, tally: Tally): Promise<void> => {
  let left = requests
  const worker = async (connection: Connection): Promise<void> => {
    while (left > 0) {
      left--
      if (!(await asked(connection, tally, performance.now()))) return
    }
  }
  await Promise.all(connections.map(worker))
  // the unsent share of broken connections
  for (; left > 0; left--) tally.failed('not sent: every connection is broken')
}

/** Open loop: requests are due at a fixed rate. The wait for a free connection counts as latency. */
const openLoop = async (
  connections: readonly Connection[],
  requests: number,
  rate: number,
  tally: Tally,
): Promise<void> => {
  const free = [...connections]
  const late: number[] = []
  const start = performance.now()
  const under = new Set<Promise<void>>()
  const send = (connection: Connection, due: number): void => {
    const done = (async () => {
      if (!(await asked(connection, tally, due))) return
      const next = late.shift()
      if (next === undefined) free.push(connection)
      else send(connection, next)
    })()
    under.add(done)
    void done.then(() => under.delete(done))
  }
  for (let index = 0; index < requests; index++) {
    await until(start + (index * 1000) / rate)
    // the delay of the timer itself does not count
    const due = performance.now()
    const connection = free.shift()
    if (connection === undefined) late.push(due)
    else send(connection, due)
  }
  while (under.size > 0) await Promise.all(under)
  for (const _ of late) tally.failed('not sent: every connection is broken')
}

const until = async (due: number): Promise<void> => {
  const wait = due - performance.now()
  if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait))
}
