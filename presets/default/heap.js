import { setFlagsFromString } from 'node:v8'
import { isTestedEngine } from './engine.js'

const FLAGS = [
  // Memory outside of the heap, such as bodies, counts toward the global limit. With its separate limit, V8 ran a full collection
  // every hundred requests of 500 KB, mostly in helper threads: 40 % of their cost.
  '--external-memory-accounted-in-global-limit',
  // Pretenuring allocates objects of a code site in the old generation if objects of the warm-up lived long.
  // It depends on chance, and a dead object there retains whole requests until the next
  // full collection: up to 10 % of the cost of calls.
  '--no-allocation-site-pretenuring',
  // A full collection comes when the heap is half as large again as after the last one. V8 would let it grow to four times as much: 120 MB
  // more after 80,000 requests, which cost no less for it.
  '--heap-growing-percent=50',
]

/** Sets flags for a program that passes bodies on and retains little of them. Returns whether the engine has them. */
export const setHeapFlags = () => {
  if (!isTestedEngine()) return false
  for (const flag of FLAGS) setFlagsFromString(flag)
  return true
}

/**
 * Lets functions learn the types of their values from their first run on. A gateway at human pace runs most functions once per request,
 * and V8 would wait for eight runs. While a program loads, most functions run once and no more, so this is for what comes after.
 */
export const learnFromFirstRun = () => {
  if (isTestedEngine()) setFlagsFromString('--no-lazy-feedback-allocation')
}
