import type { Records, Run, Span, Trace, TraceEvent, TreeSpan } from './trace.ts'

const NONE = -1

/**
 * A run's records as a tree: the root first, then depth first; siblings and events by time, then by the order in which
 * they were written. A span whose parent is unknown or part of a circle stands below the root and keeps what it named in
 * `declared_parent_id`. Throws RangeError if no span has the id `rootId`.
 */
export const arrange = (run: Run, rootId: string, records: Records): Trace => {
  const { spans, artifacts } = records
  const places = new Map<string, number>()
  for (const [index, { id }] of spans.entries()) places.set(id, index)
  const root = places.get(rootId)
  if (root === undefined) throw new RangeError(`Run ${run.trace_id} has no span ${rootId} that could be its root.`)
  const parents = parentsOf(spans, places, root)
  const events = eventsBySpan(records.events, places)
  const tree: TreeSpan[] = []
  for (const { index, depth } of depthFirst(spans, parents, root)) {
    const parent = parents[index] ?? NONE
    tree.push(treeSpan(spans, index, parent, depth, events.get(index) ?? []))
  }
  return { run, spans: tree, events: events.get(NONE) ?? [], artifacts }
}

const treeSpan = (
  spans: readonly Span[],
  index: number,
  parent: number,
  depth: number,
  events: readonly TraceEvent[],
): TreeSpan => {
  const span = spans[index] as Span
  const parent_id = spans[parent]?.id ?? null
  const declared = span.parent_id
  if (declared === null || declared === parent_id) return { ...span, parent_id, depth, events }
  return { ...span, parent_id, depth, declared_parent_id: declared, events }
}

/** The index of each span's parent in the tree; circles are cut and loose ends tied to the root. */
const parentsOf = (spans: readonly Span[], places: ReadonlyMap<string, number>, root: number): Int32Array => {
  const parents = new Int32Array(spans.length)
  for (const [index, { parent_id }] of spans.entries()) {
    parents[index] = (parent_id === null ? undefined : places.get(parent_id)) ?? root
  }
  parents[root] = NONE
  cutCircles(parents, root)
  return parents
}

/** Follows every chain of parents once; the members of a circle become children of the root. */
const cutCircles = (parents: Int32Array, root: number): void => {
  const walks = new Int32Array(parents.length)
  for (let start = 0; start < parents.length; start++) {
    const walk = start + 1
    let at = start
    while (at !== NONE && walks[at] === 0) {
      walks[at] = walk
      at = parents[at] ?? NONE
    }
    const circle = at !== NONE && walks[at] === walk
    while (circle && parents[at] !== root) {
      const next = parents[at] ?? NONE
      parents[at] = root
      at = next
    }
  }
}

/** Indexes in order of time; a sort that keeps equal ones in the order in which they were written. */
const byTime = (times: readonly bigint[]): number[] =>
  [...times.keys()].sort((left, right) => {
    const a = times[left] ?? 0n
    const b = times[right] ?? 0n
    return a < b ? -1 : a > b ? 1 : 0
  })

/** Events in order of time by the index of their span; under -1 those of the run and of spans that never came. */
const eventsBySpan = (
  events: readonly TraceEvent[],
  places: ReadonlyMap<string, number>,
): ReadonlyMap<number, readonly TraceEvent[]> => {
  const grouped = new Map<number, TraceEvent[]>()
  for (const index of byTime(events.map(({ time_ns }) => time_ns))) {
    const event = events[index] as TraceEvent
    const span = (event.span_id === null ? undefined : places.get(event.span_id)) ?? NONE
    const group = grouped.get(span)
    if (group === undefined) grouped.set(span, [event])
    else group.push(event)
  }
  return grouped
}

/** The root and all below it, parents before children; without recursion, so that any depth will do. */
function* depthFirst(
  spans: readonly Span[],
  parents: Int32Array,
  root: number,
): Generator<{ index: number; depth: number }> {
  const last = new Int32Array(spans.length).fill(NONE)
  const before = new Int32Array(spans.length).fill(NONE)
  for (const index of byTime(spans.map(({ start_ns }) => start_ns))) {
    const parent = parents[index] ?? NONE
    if (parent === NONE) continue
    before[index] = last[parent] ?? NONE
    last[parent] = index
  }
  const depths = new Int32Array(spans.length)
  const open = [root]
  for (let index = open.pop(); index !== undefined; index = open.pop()) {
    const depth = depths[index] ?? 0
    yield { index, depth }
    for (let child = last[index] ?? NONE; child !== NONE; child = before[child] ?? NONE) {
      depths[child] = depth + 1
      open.push(child)
    }
  }
}
