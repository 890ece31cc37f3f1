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
 * Half of the young generation. V8 would let it grow to eight times as much, which costs a daemon 100 MB and makes requests no faster. Its
 * maximum is fixed before a program starts; its growth factor is not.
 */
const NURSERY_BYTES = 8 * 1024 * 1024

/** Sets the flags alone. Returns whether the engine has them. */
export const setHeapFlags = () => {
  if (!process.versions.v8.startsWith(ENGINE)) return false
  for (const flag of FLAGS) setFlagsFromString(flag)
  return true
}

/** Tunes V8 for a program that passes bodies on and retains little of them. */
export const tuneHeap = () => {
  if (!setHeapFlags()) return
  growNursery()
  new PerformanceObserver(boundNursery).observe({ entryTypes: ['gc'] })
}

/**
 * Grows the young generation at once, with surviving objects: while a program loads, observers get several collections in one event.
 * A small machine or a user's flag may limit the growth.
 */
const growNursery = () => {
  setFlagsFromString(`--semi-space-growth-factor=${NURSERY_BYTES / FIRST_BYTES}`)
  const staying = []
  while (nurserySize() < NURSERY_BYTES && staying.length < ENOUGH) staying.push(new Array(ELEMENTS).fill(0))
  boundNursery()
}
/** Initial size of the young generation. It grows after a collection with more survivors. */
const FIRST_BYTES = 1024 * 1024
const ELEMENTS = 4_096
/** Arrays of 32 KiB: 4 MiB. */
const ENOUGH = 128

/** Sets a minimum size, because V8 shrinks the young generation of an idle program. */
const boundNursery = () => {
  const factor = Math.max(1, Math.floor((2 * NURSERY_BYTES) / nurserySize()))
  setFlagsFromString(`--semi-space-growth-factor=${factor}`)
}

/** Bytes of both halves. */
const nurserySize = () =>
  getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')?.space_size ?? NURSERY_BYTES
