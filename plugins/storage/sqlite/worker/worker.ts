import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import type { OpenOptions } from '../protocol.ts'
import { serveDatabase } from './open-database.ts'

/** Requests to open a database, one after another. The thread ends when this port is closed. */
const openRequests = workerData as MessagePort
const port = parentPort
if (port === null) throw new TypeError('this module runs in a worker thread')
openRequests.on('message', (options: OpenOptions) => void serveDatabase(port, options))
