import { PerformanceObserver } from 'node:perf_hooks'
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'

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

/**
 * One half of the room for young objects. By itself the engine takes twice as much. How large it may become is fixed before a
 * program starts; by what factor it grows is not.
 */
const NURSERY_BYTES = 32 * 1024 * 1024

/** Fits the engine's heap to a program that passes bodies on and keeps little of them. */
export const fitHeap = () => {
  if (!process.versions.v8.startsWith(ENGINE)) return
  for (const flag of FLAGS) setFlagsFromString(flag)
  growNursery()
  new PerformanceObserver(boundNursery).observe({ entryTypes: ['gc'] })
}

/**
 * At once, by objects that stay: while a program loads, observers are told of several collections together.
 * On a small machine, or by a flag of the user's own, the nursery cannot become that large.
 */
const growNursery = () => {
  setFlagsFromString(`--semi-space-growth-factor=${NURSERY_BYTES / FIRST_BYTES}`)
  const staying = []
  while (nurserySize() < NURSERY_BYTES && staying.length < ENOUGH) staying.push(new Array(ELEMENTS).fill(0))
  boundNursery()
}
/** What the engine begins with; it grows after a collection that left more than that. */
const FIRST_BYTES = 1024 * 1024
const ELEMENTS = 4_096
/** 8 MiB. */
const ENOUGH = 256

/** Lets the nursery grow as far as it may: the engine shrinks it where there is little to do. */
const boundNursery = () => {
  const factor = Math.max(1, Math.floor((2 * NURSERY_BYTES) / nurserySize()))
  setFlagsFromString(`--semi-space-growth-factor=${factor}`)
}

/** Of both halves, in bytes. */
const nurserySize = () =>
  getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')?.space_size ?? NURSERY_BYTES
