import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import type { Table } from 'guard-gateway/core'
import type { Shape } from '../../kysely/shape.ts'
import { Progress } from '../ahead/progress.ts'
import { CheckpointBehind } from '../checkpoints/behind.ts'
import { Checkpoints } from '../checkpoints/checkpoints.ts'
import { messageOf, reasonOf } from '../failure.ts'
import { modeWarning } from '../file/file.ts'
import { Refusal } from '../file/refusal.ts'
import type { Ask, BatchValues, FromWorker, Start, ToWorker } from '../protocol.ts'
import { Asks } from './asks.ts'
import { readyChange } from './changes.ts'
import { openDatabase } from './database.ts'
import { Group } from './group.ts'
import { Statements } from './statements.ts'
import { stillThere } from './still-there.ts'

const told = workerData as MessagePort
const start = await new Promise<Start>((resolve) => {
  told.once('message', resolve)
})
told.close()
const port = parentPort
if (port === null) throw new TypeError('this module runs in a worker thread')
const say = (message: FromWorker) => port.postMessage(message)

const open = async () => {
  try {
    return await openDatabase(start)
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    say({ kind: 'refused', code: error.code, message: error.message })
    return undefined
  }
}

const batchesOf = (part: string | readonly BatchValues[]): readonly BatchValues[] =>
  typeof part === 'string' ? (JSON.parse(part) as readonly BatchValues[]) : part

const opened = await open()
if (opened !== undefined) {
  say({ kind: 'open', place: opened.place })
  const warn = (message: string) => say({ kind: 'warning', message })
  const warning = modeWarning(start.file)
  if (warning !== undefined) warn(warning)
  const { db, place } = opened
  const tables = new Map(start.tables.map((table) => [table.id, table]))
  const shapes = new Map<number, { readonly table: Table; readonly shape: Shape }>()
  const changes = new Map<number, ReturnType<typeof readyChange>>()
  const statements = new Statements(db)

  const shapeOf = (number: number) => {
    const found = shapes.get(number)
    if (found === undefined) throw new TypeError(`shape ${number} was never sent`)
    return found
  }
  const changeOf = (number: number) => {
    const known = changes.get(number)
    if (known !== undefined) return known
    const { table, shape } = shapeOf(number)
    if (shape.kind !== 'put' && shape.kind !== 'patch' && shape.kind !== 'remove')
      throw new TypeError(`shape ${number} is no change`)
    const made = readyChange(table, shape, statements)
    changes.set(number, made)
    return made
  }
  const progress = place && new Progress(db, place)
  const group = new Group(db, start, changeOf, progress)
  const behind = new CheckpointBehind(start, warn)
  const checkpoints = new Checkpoints(db, behind)
  const asks = new Asks(db, group, statements, shapeOf)
  const isThere = stillThere(start)

  let batches: BatchValues[] = []
  let bytes = 0
  const waiting: Ask[] = []
  let probing = false
  let closing = false

  const gone = new Error(
    `The database ${start.file} or its journal was removed or replaced while it was in use. What bears the name now is opened; what a removed database held is not on record any more.`,
  )

  const accept = (message: ToWorker): void => {
    if (message.kind === 'write') {
      for (const part of message.parts) batches.push(...batchesOf(part))
      bytes += message.bytes
    } else if (message.kind === 'shape') {
      const table = tables.get(message.shape.table)
      if (table !== undefined) shapes.set(message.number, { table, shape: message.shape })
    } else if (message.kind === 'forget') progress?.forget(message.batch)
    else if (message.kind === 'probe') probing = true
    else if (message.kind === 'close') closing = true
    else waiting.push(message)
  }
  /** Takes everything that has arrived, without waiting for the event loop. */
  const drain = (): void => {
    for (let received = receiveMessageOnPort(port); received !== undefined; received = receiveMessageOnPort(port))
      accept(received.message as ToWorker)
  }
  const write = (): void => {
    // the next thread is sent again what is not answered
    if (!isThere()) throw gone
    const group_batches = batches
    batches = []
    say({ kind: 'wrote', ...group.commit(group_batches), applied: progress?.applied ?? 0 })
    checkpoints.committed(group_batches.length > 1, bytes)
    bytes = 0
  }
  /** Finds out whether there is room again: writes some pages and frees them. */
  const probe = (): void => {
    probing = false
    const make = () =>
      db.exec('create table guard_probe (filler blob); insert into guard_probe values (zeroblob(65536))')
    const failed = group.transact(false, make) ?? undefined
    const done = failed instanceof Error ? failed : group.transact(false, () => db.exec('drop table guard_probe'))
    say({
      kind: 'wrote',
      done: [],
      applied: progress?.applied ?? 0,
      failed: done instanceof Error ? [{ id: 0, reason: reasonOf(done), message: messageOf(done) }] : [],
    })
  }
  const answer = (ask: Ask): void => {
    try {
      const step = asks.step(ask)
      if (step.done) say({ kind: 'answer', id: ask.id, value: step.value })
      else waiting.push(ask)
    } catch (error) {
      asks.forget(ask.id)
      say({ kind: 'failed', id: ask.id, reason: reasonOf(error), message: messageOf(error) })
    }
  }
  /** Until nothing is left: commits what waits, then one step of one question. */
  const work = (): void => {
    for (;;) {
      drain()
      if (batches.length > 0) write()
      else if (probing) probe()
      else {
        const ask = waiting.shift()
        if (ask === undefined) return
        answer(ask)
      }
    }
  }
  const close = async (): Promise<void> => {
    if (progress?.isBehind === true) group.commit([])
    await behind.close()
    opened.close()
    say({ kind: 'closed' })
    port.close()
  }
  port.on('message', (message: ToWorker) => {
    accept(message)
    work()
    if (!closing) return
    closing = false
    void close()
  })
}
