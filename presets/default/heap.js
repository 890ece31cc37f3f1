import { PerformanceObserver } from 'node:perf_hooks'
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'

/** V8 version that these flags were tested with. Other versions might reject them. */
const ENGINE = '13.6.'

const FLAGS = [
  // Memory outside of the heap, such as bodies, counts toward the global limit. With its separate limit, V8 ran a full collection
  // every hundred requests of 500 KB, mostly in helper threads: 40 % of their cost.
  '--external-memory-accounted-in-global-limit',
  // Pretenuring allocates objects of a code site in the old generation if objects of the warm-up lived long.
  // It depends on chance, and a dead object there retains whole requests until the next
  // full collection: up to 10 % of the cost of calls.
  '--no-allocation-site-pretenuring',
]

/**
 * Half of the young generation under load. V8 would let it grow to eight times as much, which costs a daemon 100 MB and makes requests no
 * faster. Its maximum is fixed before a program starts; its growth factor is not.
 */
const NURSERY_BYTES = 8 * 1024 * 1024

/** Sets the flags alone. Returns whether the engine has them. */
export const setHeapFlags = () => {
  if (!process.versions.v8.startsWith(ENGINE)) return false
  for (const flag of FLAGS) setFlagsFromString(flag)
  return true
}

/** Tunes V8 for a program that passes bodies on and retains little of them. What loads survives, so the young generation stays small meanwhile. */
export const tuneHeap = () => {
  if (setHeapFlags()) setGrowth(1)
}

/** Lets the young generation grow with the load, once the program is loaded. V8 shrinks that of an idle program. */
export const growWithLoad = () => {
  if (!process.versions.v8.startsWith(ENGINE)) return
  // A function that runs for the first time learns the types of its values at once. A gateway runs most functions once per request, and V8
  // would wait for eight requests.
  setFlagsFromString('--no-lazy-feedback-allocation')
  boundNursery()
  new PerformanceObserver(boundNursery).observe({ entryTypes: ['gc'] })
}

/** Observers hear of a collection after it, so that the next growth ends at the limit. */
const boundNursery = () => setGrowth(Math.max(1, Math.floor((2 * NURSERY_BYTES) / nurserySize())))

/** @param {number} factor */
const setGrowth = (factor) => setFlagsFromString(`--semi-space-growth-factor=${factor}`)

/** Bytes of both halves. */
const nurserySize = () =>
  getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')?.space_size ?? NURSERY_BYTES
