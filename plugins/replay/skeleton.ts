/** What one model span used. */
export interface Use {
  readonly input: bigint
  readonly output: bigint
  readonly cost: bigint
}

/** As much of a span as a run's summary needs. */
export interface Bone {
  readonly id: string
  readonly parent: string | null
  readonly status: string
  readonly start_ns: bigint
  readonly end_ns: bigint | null
  /** Written by the gateway or the MCP proxy: nobody else changes it. */
  readonly guarded: boolean
  /** Null: no model span, or one that says nothing of its use. */
  readonly use: Use | null
}

/** What follows from all spans of a run together. */
export interface Sums {
  input: bigint
  output: bigint
  cost: bigint
  /** Null without spans. */
  start_ns: bigint | null
  end_ns: bigint | null
  running: number
  failed: number
  /** Of the spans below the root, the one that ended last. */
  last: Bone | null
}

const noSums = (): Sums => ({
  input: 0n,
  output: 0n,
  cost: 0n,
  start_ns: null,
  end_ns: null,
  running: 0,
  failed: 0,
  last: null,
})

/** The spans of one run, and sums over them that are kept up as spans come. */
export class Skeleton {
  readonly #bones = new Map<string, Bone>()
  /** Model spans whose use counts: those with no model span of known use below them. */
  readonly #counted = new Set<string>()
  /** Spans with some span of known use below them, up to the root or to a parent that has not come. */
  readonly #above = new Set<string>()
  /** Parents that were named and have not come. */
  readonly #awaited = new Set<string>()
  #sums: Sums = noSums()
  /** The sums have to be made anew when somebody asks: children that come before their parents would have it done for each. */
  #stale = false

  get sums(): Sums {
    if (this.#stale) this.#recount()
    return this.#sums
  }

  get size(): number {
    return this.#bones.size
  }

  get(id: string): Bone | undefined {
    return this.#bones.get(id)
  }

  /** Adds a span, or puts it in the place of the one with its id. */
  set(bone: Bone): void {
    const old = this.#bones.get(bone.id)
    const simple = old === undefined && !this.#awaited.has(bone.id)
    this.#bones.set(bone.id, bone)
    if (bone.parent !== null && !this.#bones.has(bone.parent)) this.#awaited.add(bone.parent)
    this.#awaited.delete(bone.id)
    if (this.#stale) return
    if (simple) this.#add(bone)
    else if (old !== undefined && this.#onlyEnds(old, bone)) this.#end(old, bone)
    else this.#stale = true
  }

  /** The span was running and has ended, and no other sum depends on it: what long sessions do with every call. */
  #onlyEnds(old: Bone, bone: Bone): boolean {
    const { parent, start_ns, end_ns, use } = old
    const ended = end_ns === null && bone.end_ns !== null && bone.end_ns !== this.#sums.last?.end_ns
    return ended && use === null && bone.use === null && parent === bone.parent && start_ns === bone.start_ns
  }

  #end(old: Bone, bone: Bone): void {
    this.#sums.running--
    if (old.status === 'error') this.#sums.failed--
    this.#add(bone)
  }

  #add(bone: Bone): void {
    const sums = this.#sums
    if (sums.start_ns === null || bone.start_ns < sums.start_ns) sums.start_ns = bone.start_ns
    const reached = bone.end_ns ?? bone.start_ns
    if (sums.end_ns === null || reached > sums.end_ns) sums.end_ns = reached
    if (bone.end_ns === null) sums.running++
    if (bone.status === 'error') sums.failed++
    if (this.#isTop(bone) && bone.end_ns !== null && (sums.last?.end_ns ?? -1n) <= bone.end_ns) sums.last = bone
    if (bone.use !== null) this.#count(bone, bone.use)
  }

  #isTop({ parent }: Bone): boolean {
    return parent === null || !this.#bones.has(parent)
  }

  /** Counts a span and no longer those above it, which tell of the same use. No span is passed twice, however deep the tree. */
  #count(bone: Bone, use: Use): void {
    this.#counted.add(bone.id)
    this.#sum(use, 1n)
    for (let at = bone.parent; at !== null && !this.#above.has(at) && at !== bone.id; ) {
      const above = this.#bones.get(at)
      if (above === undefined) return
      this.#above.add(at)
      if (above.use !== null && this.#counted.delete(at)) this.#sum(above.use, -1n)
      at = above.parent
    }
  }

  #sum(use: Use, sign: bigint): void {
    this.#sums.input += sign * use.input
    this.#sums.output += sign * use.output
    this.#sums.cost += sign * use.cost
  }

  #recount(): void {
    this.#stale = false
    this.#sums = noSums()
    this.#counted.clear()
    this.#above.clear()
    for (const bone of this.#bones.values()) if (bone.use !== null) this.#passUp(bone)
    for (const bone of this.#bones.values()) this.#add(this.#above.has(bone.id) ? { ...bone, use: null } : bone)
  }

  #passUp(bone: Bone): void {
    for (let at = bone.parent; at !== null && !this.#above.has(at) && at !== bone.id; ) {
      const above = this.#bones.get(at)
      if (above === undefined) return
      this.#above.add(at)
      at = above.parent
    }
  }
}
