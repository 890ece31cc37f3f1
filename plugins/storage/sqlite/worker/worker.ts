import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import type { Start } from '../protocol.ts'
import { keep } from './kept-file.ts'

/** Keeps one file after another, as told; ends when the port on which it is told is closed. */
const told = workerData as MessagePort
const port = parentPort
if (port === null) throw new TypeError('this module runs in a worker thread')
told.on('message', (start: Start) => void keep(port, start))
