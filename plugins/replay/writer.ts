import { hostname } from 'node:os'

const started = Date.now() - Math.round(process.uptime() * 1000)

/** Who writes: this host and process, told apart from a later process of the same number by its start. */
export const writer = `${hostname()}:${process.pid}:${started}`
