import { setFlagsFromString } from 'node:v8'

/** The engine that knows the flag; another one might complain about it. */
const ENGINE = '13.6.'

/**
 * Lets the engine weigh what stands outside of its heap, as bodies do, together with the heap. By itself it has a limit for that alone,
 * and has looked through the whole heap every hundred requests of 500 KB, mostly in helper threads: that was 40 % of what they cost.
 */
export const weighBodiesWithHeap = () => {
  if (process.versions.v8.startsWith(ENGINE)) setFlagsFromString('--external-memory-accounted-in-global-limit')
}
