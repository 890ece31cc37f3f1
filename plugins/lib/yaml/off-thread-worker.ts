import { parentPort, workerData } from 'node:worker_threads'
import { GuardError } from 'guard-gateway/core'
import type { YamlModule } from './module.ts'
import type { ApartAnswer, ApartTask } from './off-thread.ts'
import { readPlaced } from './reader.ts'

const { yaml, text, options } = workerData as ApartTask

const read = async (): Promise<ApartAnswer> => {
  try {
    const { value, places } = readPlaced((await import(yaml)) as YamlModule, text, options)
    return { value, places: places() }
  } catch (error) {
    if (!(error instanceof GuardError)) throw error
    const { line, column } = error.place
    return { refusal: error.message, place: line === undefined || column === undefined ? {} : { line, column } }
  }
}

parentPort?.postMessage(await read())
