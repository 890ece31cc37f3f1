import { totalmem } from 'node:os'
import { getHeapStatistics } from 'node:v8'

const OBJECT_BYTES = 56
const VALUE_BYTES = 8
const MAX_DEPTH = 8

/** What a value of plain data, maps and typed arrays takes, about; what it holds twice counts twice. */
export const estimatedBytes = (value: unknown, depth = 0): number => {
  if (typeof value === 'string') return VALUE_BYTES + value.length
  if (typeof value !== 'object' || value === null) return VALUE_BYTES
  if (ArrayBuffer.isView(value)) return OBJECT_BYTES + value.byteLength
  if (depth === MAX_DEPTH) return OBJECT_BYTES
  let bytes = OBJECT_BYTES
  for (const part of partsOf(value)) bytes += VALUE_BYTES + estimatedBytes(part, depth + 1)
  return bytes
}

const partsOf = (value: object): Iterable<unknown> => {
  if (Array.isArray(value) || value instanceof Set) return value
  return value instanceof Map ? [...value.keys(), ...value.values()] : Object.values(value)
}

/** The bytes to which the largest parts must shrink so that all parts together hold `total`; the others hold less and stay. */
const fairLevel = (parts: readonly { readonly bytes: number }[], total: number): number => {
  let left = total
  let count = parts.length
  for (const { bytes } of parts.toSorted((a, b) => a.bytes - b.bytes)) {
    if (bytes > left / count) break
    left -= bytes
    count--
  }
  // 0 would mean that nothing is in use
  return count === 0 ? Number.POSITIVE_INFINITY : Math.max(1, Math.floor(left / count))
}

declare module 'guard-gateway/core' {
  interface Services {
    /** The memory that stores of this gateway share. */
    memory_budget: MemoryBudget
  }
}

const MIB = 2 ** 20
/** What stores keep of what is not in use at this moment, and the smallest budget by itself. */
const RESTING_BYTES = 48 * MIB

/**
 * The budget of a gateway whose configuration names none, in bytes: an eighth of the smallest of these limits, 48 MiB to 512 MiB.
 * `limits`: the memory of the machine and of its control group (0: none) and the heap limit of V8, in bytes.
 */
export const defaultBudgetBytes = (
  limits = [totalmem(), process.constrainedMemory(), getHeapStatistics().heap_size_limit],
): number => {
  const eighth = Math.floor(Math.min(...limits.filter((limit) => limit > 0)) / 8)
  return Math.min(512 * MIB, Math.max(RESTING_BYTES, eighth))
}

/** How often it looks for stores that are not used. */
const LOOK_MS = 30_000
/** A store that this many looks have found unused is emptied. */
const IDLE_LOOKS = 4
/** It frees so much more than it must, so that it does not shrink stores at each request. */
const HYSTERESIS = 1 / 16

/**
 * Memory that several stores share by need: one may take what others leave. If all of them together hold more than 48 MiB, unused stores
 * shrink first, then the largest, but for what is in use at this moment; that may take the whole budget. Stores that are not used for two
 * minutes are emptied. It watches only while there is something to free.
 */
export class MemoryBudget {
  readonly bytes: number
  /** What stores may hold that is not in use at this moment. */
  readonly resting_bytes: number
  readonly #parts: MemoryPart[] = []
  readonly #quiet: (() => void)[] = []
  #held = 0
  /** What may be held before stores shrink; more than `resting_bytes` while more is in use. */
  #allowed: number
  #isShrinking = false
  #timer: NodeJS.Timeout | undefined

  /** `bytes`: what all stores may hold, about. */
  constructor(bytes: number = defaultBudgetBytes()) {
    this.bytes = bytes
    this.resting_bytes = Math.min(bytes, RESTING_BYTES)
    this.#allowed = this.resting_bytes
  }

  /** What stores hold. */
  get held(): number {
    return this.#held
  }

  /** What stores hold, by their names. */
  byName(): ReadonlyMap<string, number> {
    const held = new Map<string, number>()
    for (const { name, bytes } of this.#parts) held.set(name, (held.get(name) ?? 0) + bytes)
    return held
  }

  /** A part for a store. Parts of one name are told of together. */
  part(options: PartOptions): MemoryPart {
    const part = new MemoryPart(options, (difference) => {
      this.#held += difference
      if (this.#isShrinking) return
      if (this.#timer === undefined && this.#held > 0) this.#watch()
      if (this.#held > this.#allowed) this.#shrink()
    })
    this.#parts.push(part)
    return part
  }

  /**
   * Calls this half a minute after the last use of any store, and again after unused stores were emptied; the first time
   * without any use.
   */
  onQuiet(act: () => void): void {
    this.#quiet.push(act)
    this.#watch()
  }

  /** Stops watching. A later use of a store starts it again. */
  end(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  #watch(): void {
    this.end()
    this.#timer = setTimeout(() => this.#look(), LOOK_MS).unref()
  }

  #look(): void {
    this.#timer = undefined
    for (const part of this.#parts) {
      part.idle_looks = part.wasUsed ? 0 : part.idle_looks + 1
      part.wasUsed = false
    }
    const unused = this.#parts.filter((part) => part.idle_looks >= IDLE_LOOKS && isEmptied(part))
    const before = this.#held
    this.#shrinkAll(unused, 0)
    this.#shrink()
    const used = Math.min(...this.#parts.map(({ idle_looks }) => idle_looks))
    if (used === 1 || (used > 1 && this.#held < before)) for (const act of this.#quiet) act()
    // once more, for what was in use; else that use will end with another
    if (used === 0 || this.#parts.some((part) => part.idle_looks <= IDLE_LOOKS && isEmptied(part))) this.#watch()
  }

  #shrink(): void {
    const isUrgent = this.#held > this.bytes
    const most = isUrgent ? this.bytes : this.resting_bytes
    if (this.#held > most) this.#shrinkTo(most * (1 - HYSTERESIS), isUrgent)
    this.#allowed = Math.max(this.resting_bytes, this.#held + this.resting_bytes * HYSTERESIS)
  }

  /** `isUrgent`: what is in use shrinks, too. */
  #shrinkTo(target: number, isUrgent: boolean): void {
    const unused = this.#parts.filter((part) => part.idle_looks > 0 && !part.wasUsed && isEmptied(part))
    for (const part of unused.sort((a, b) => b.idle_looks - a.idle_looks))
      if (this.#held > target) this.#shrinkAll([part], Math.max(0, part.bytes - (this.#held - target)), isUrgent)
    if (this.#held > target) this.#shrinkAll(this.#parts, fairLevel(this.#parts, target), isUrgent)
  }

  /** Shrinks those parts that hold more. */
  #shrinkAll(parts: readonly MemoryPart[], bytes: number, isUrgent = true): void {
    this.#isShrinking = true
    try {
      for (const part of parts) {
        const { wasUsed } = part
        if (part.bytes > bytes) part.shrink(bytes, isUrgent)
        part.wasUsed = wasUsed
      }
    } finally {
      this.#isShrinking = false
    }
  }
}

/** Its bytes are freed once it is not used. */
const isEmptied = ({ bytes, staysIdle }: MemoryPart): boolean => bytes > 0 && !staysIdle

/** What a store says of itself. */
export interface PartOptions {
  /** What the store holds, as `/metrics` names it: `histories`. */
  readonly name: string
  /**
   * Frees what was used longest ago until the store holds at most so many bytes, and tells `hold` what is left.
   * What is in use stays; unless `isUrgent`, so may what was used a moment ago. Whatever it frees must be read or computed again when it
   * is next needed.
   */
  readonly shrink: (bytes: number, isUrgent: boolean) => void
  /** It is not emptied when it is not used, because what it frees cannot always be had again. */
  readonly staysIdle?: boolean
}

/** The part of a memory budget that one store takes. */
export class MemoryPart {
  readonly name: string
  readonly shrink: PartOptions['shrink']
  readonly staysIdle: boolean
  readonly #changed: (difference: number) => void
  #bytes = 0
  /** Since the last look of the budget. */
  wasUsed = false
  /** Looks of the budget that found it unused, one after another. */
  idle_looks = 0

  constructor({ name, shrink, staysIdle = false }: PartOptions, changed: (difference: number) => void) {
    this.name = name
    this.shrink = shrink
    this.staysIdle = staysIdle
    this.#changed = changed
  }

  /** Bytes that the store holds, about. */
  get bytes(): number {
    return this.#bytes
  }

  /** The store was used, and holds so many bytes now. It may be shrunk before this returns. */
  hold(bytes: number): void {
    const difference = bytes - this.#bytes
    this.#bytes = bytes
    this.wasUsed = true
    this.#changed(difference)
  }
}
