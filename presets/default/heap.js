import { setFlagsFromString } from 'node:v8'

/** The engine that is known to have these flags; another one might complain about them. */
const ENGINE = '13.6.'

const FLAGS = [
  // What stands outside of the heap, as bodies do, is weighed together with it. By itself it has a limit of its own, for which the engine
  // has looked through the whole heap every hundred requests of 500 KB, mostly in helper threads: that was 40 % of what they cost.
  '--external-memory-accounted-in-global-limit',
  // Objects of one place in the code are not put among the old ones because those made there while the program warmed up lived long.
  // Some do by chance, differently each time, and one that is dead keeps all that it points to, here whole requests, until the next
  // look through the whole heap: up to a tenth of what calls cost.
  '--no-allocation-site-pretenuring',
]

/** Fits the engine's heap to a program that passes bodies on and keeps little of them. */
export const fitHeap = () => {
  if (process.versions.v8.startsWith(ENGINE)) for (const flag of FLAGS) setFlagsFromString(flag)
}
