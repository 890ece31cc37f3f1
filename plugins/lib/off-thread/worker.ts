import { parentPort, workerData } from 'node:worker_threads'
import type { OffThreadModule, OffThreadReply } from './off-thread.ts'

const { work } = (await import(workerData as string)) as OffThreadModule<unknown, unknown>

const replyTo = async (task: unknown): Promise<OffThreadReply> => {
  try {
    return { answer: await work(task) }
  } catch (failure) {
    return { failure: failure ?? new Error('The work failed.') }
  }
}

parentPort?.on('message', async (task) => parentPort?.postMessage(await replyTo(task)))
