import { type DriverChange, handle, type Table } from 'guard-gateway/core'
import { chatCompletions } from 'guard-gateway/plugins/api-styles/chat-completions'
import { conversationOf } from './bodies.ts'
import { callOf, silentClient } from './calls.ts'
import { openGateway, watchedStorage } from './gateway.ts'
import { bodyOf } from './template.ts'

/** The storage batch of one request in an existing session, and all tables of the gateway. */
export interface RecordedBatch {
  readonly tables: readonly Table[]
  /** The change that puts the session row. `request` updates that row. */
  readonly opening: readonly DriverChange[]
  /** The changes of one call, its session and its run. */
  readonly request: readonly DriverChange[]
}

/** Handles two requests and captures the batch of the second one. Throws if the gateway recorded nothing. */
export const recordedBatch = async (): Promise<RecordedBatch> => {
  const batches: (readonly DriverChange[])[] = []
  const gateway = await openGateway(watchedStorage((batch) => batches.push(batch)))
  const tables = [...gateway.tables]
  const conversation = conversationOf('chat_completions', 32)
  const turns = conversation.ends.length - 2
  for (const more of [0, 1])
    await handle(gateway, callOf(chatCompletions, bodyOf(conversation, turns + more)), silentClient)
  await gateway.close()
  const request = batches.findLast((batch) => batch.some(({ table }) => table.id === 'calls'))
  if (request === undefined) throw new Error('the gateway recorded nothing')
  return { tables, opening: batches.flatMap((batch) => batch.filter(({ table }) => table.id === 'sessions')), request }
}

/** The same batch with new ids for all put rows except the session. */
export const renumbered = (batch: readonly DriverChange[], number: number): DriverChange[] =>
  batch.map((change) =>
    change.kind === 'put' && change.table.id !== 'sessions'
      ? { ...change, row: { ...change.row, id: `bench_${number}` } }
      : change,
  )
