import { random } from '../kit/random.ts'
import { Client, type Routing } from './client.ts'
import { onMessage, waitForParent } from './message-handlers.ts'
import { repliesOf } from './replies.ts'
import { connectionName, RequestWriter } from './request-writer.ts'
import { chats, crowd, type ReplyPlan, type Shape, shapes, steady } from './shapes.ts'
import { type Counted, Tally } from './tally.ts'

export interface OpenOptions {
  readonly shape: string
  /** The reply of the provider, which determines the expected length. */
  readonly reply: ReplyPlan
  /** The ports of the targets. */
  readonly ports: readonly number[]
  /** With several ports: each client always the same one, or each of its requests another one, in turns. Absent: sticky. */
  readonly routing?: Routing
  /** Further headers of every request. */
  readonly headers?: Readonly<Record<string, string>>
  /** The gateway key. */
  readonly key: string
  /** Numbers the sets of connections. No two sets send equal conversations. */
  readonly set: number
  /** The number of clients, with one request at a time each. */
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

export interface PaceOptions {
  /** Each has one connection. */
  readonly sets: readonly number[]
  /** The number of requests of each set. */
  readonly requests: number
  /** Least and most time between two requests of a set. */
  readonly pause_ms: readonly [number, number]
}

export interface PaceResult {
  /** Milliseconds until the last byte of each reply, by set. */
  readonly latencies_ms: readonly (readonly number[])[]
  readonly failed: number
  readonly errors: readonly string[]
}

export interface CloseOptions {
  readonly set: number
}

/** The clients of one run. */
interface Clients {
  readonly shape: Shape
  readonly clients: readonly Client[]
  readonly reply_bytes: number
}

const every = new Map([...shapes(), crowd, steady, chats].map((shape) => [shape.id, shape]))
const sets = new Map<number, Clients>()

onMessage('open', async ({ shape: id, reply, ports, routing, key, set, headers, connections: count }) => {
  const shape = every.get(id)
  if (shape === undefined) throw new Error(`there is no shape "${id}"`)
  const clients: Client[] = []
  for (let index = 0; index < count; index++) {
    const writer = new RequestWriter(shape, ports[0] ?? 0, key, connectionName(set, index), headers)
    clients.push(await Client.open(ports, writer, index, routing))
  }
  const opened = { shape, clients, reply_bytes: repliesOf(reply).body_bytes }
  sets.set(set, opened)
  if (!shape.opened) return { sent: 0 }
  const tally = new Tally(opened.reply_bytes)
  for (const client of clients) await asked(client, tally, performance.now())
  const { failed, errors } = tally.counted(clients.length)
  if (failed > 0) throw new Error(`${failed} opening requests failed: ${errors.join('; ')}`)
  return { sent: clients.length }
})

onMessage('run', async ({ set, requests, rate }) => {
  const opened = sets.get(set)
  if (opened === undefined) throw new Error(`no connections were opened as set ${set}`)
  const tally = new Tally(opened.reply_bytes)
  const start = performance.now()
  if (rate === undefined) await closedLoop(opened.clients, requests, tally)
  else await openLoop(opened.clients, requests, rate, tally)
  return { ...tally.counted(requests), wall_ms: performance.now() - start }
})

onMessage('pace', ({ sets: numbers, requests, pause_ms }) => {
  const paced = numbers.map((set) => {
    const opened = sets.get(set)
    if (opened === undefined) throw new Error(`no connections were opened as set ${set}`)
    return opened
  })
  return atPace(paced, requests, pause_ms)
})

onMessage('close', ({ set }) => {
  for (const client of sets.get(set)?.clients ?? []) client.close()
  sets.delete(set)
  return true
})
waitForParent()

const asked = async (client: Client, tally: Tally, due: number): Promise<boolean> => {
  try {
    const reply = await client.exchange()
    tally.replied(reply, performance.now() - due)
    return true
  } catch (error) {
    tally.failed(error instanceof Error ? error.message : String(error))
    return false
  }
}

/** Closed loop: each client sends its next request after the previous response, up to `requests` in total. */
const closedLoop = async (clients: readonly Client[], requests: number, tally: Tally): Promise<void> => {
  let left = requests
  const worker = async (client: Client): Promise<void> => {
    while (left > 0) {
      left--
      if (!(await asked(client, tally, performance.now()))) return
    }
  }
  await Promise.all(clients.map(worker))
  // the unsent share of broken connections
  for (; left > 0; left--) tally.failed('not sent: every connection is broken')
}

/** Open loop: requests are due at a fixed rate. The wait for a free connection counts as latency. */
const openLoop = async (clients: readonly Client[], requests: number, rate: number, tally: Tally): Promise<void> => {
  const free = [...clients]
  const late: number[] = []
  const start = performance.now()
  const under = new Set<Promise<void>>()
  const send = (client: Client, due: number): void => {
    const done = (async () => {
      if (!(await asked(client, tally, due))) return
      const next = late.shift()
      if (next === undefined) free.push(client)
      else send(client, next)
    })()
    under.add(done)
    void done.then(() => under.delete(done))
  }
  for (let index = 0; index < requests; index++) {
    await until(start + (index * 1000) / rate)
    // the delay of the timer itself does not count
    const due = performance.now()
    const client = free.shift()
    if (client === undefined) late.push(due)
    else send(client, due)
  }
  while (under.size > 0) await Promise.all(under)
  for (const _ of late) tally.failed('not sent: every connection is broken')
}

/** One request at a time, of each set in turns, so that no set is measured while another works. The order rotates. */
const atPace = async (
  paced: readonly Clients[],
  requests: number,
  [least, most]: PaceOptions['pause_ms'],
): Promise<PaceResult> => {
  const next = random(1)
  const latencies = paced.map((): number[] => [])
  const tallies = paced.map(({ reply_bytes }) => new Tally(reply_bytes))
  for (let index = 0; index < requests; index++) {
    for (let turn = 0; turn < paced.length; turn++) {
      const at = (index + turn) % paced.length
      const client = paced[at]?.clients[0]
      const tally = tallies[at]
      if (client === undefined || tally === undefined) continue
      await until(performance.now() + (least + next() * (most - least)) / paced.length)
      const sent = performance.now()
      if (await asked(client, tally, sent)) latencies[at]?.push(performance.now() - sent)
    }
  }
  const counted = tallies.map((tally) => tally.counted(requests))
  return {
    latencies_ms: latencies,
    failed: counted.reduce((sum, { failed }) => sum + failed, 0),
    errors: counted.flatMap(({ errors }) => errors),
  }
}

const until = async (due: number): Promise<void> => {
  const wait = due - performance.now()
  if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait))
}
