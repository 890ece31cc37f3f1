import { Pace } from '#lib/time-slice'
import type { Run, TraceSpan as Span, TraceEvent } from './run.ts'

/** As much of a span and of an event as its place in the tree follows from. */
type SpanPosition = Pick<Span, 'id' | 'parent_id' | 'start_ns'>
type EventPosition = Pick<TraceEvent, 'span_id' | 'time_ns'>

/** What a record of a span becomes in the tree. */
type TreeSpan<S, E> = S & {
  readonly depth: number
  readonly declared_parent_id?: string
  readonly events: readonly E[]
}

/** A run's records as a tree, whole ones or what is known of them. */
export interface Tree<S, E, A> {
  readonly run: Run
  readonly spans: readonly TreeSpan<S, E>[]
  readonly events: readonly E[]
  readonly artifacts: readonly A[]
}

const NONE = -1

/** Records of a run as they were written. */
interface Records<S, E, A> {
  readonly spans: readonly S[]
  readonly events: readonly E[]
  readonly artifacts: readonly A[]
}

/**
 * A run's records as a tree: the root first, then depth first; siblings and events by time, then by the order in which
 * they were written. A span whose parent is unknown or part of a circle is below the root and keeps what it named in
 * `declared_parent_id`. Throws RangeError if no span has the id `rootId`.
 */
export const buildSpanTree = <S extends SpanPosition, E extends EventPosition, A>(
  run: Run,
  rootId: string,
  records: Records<S, E, A>,
): Tree<S, E, A> => {
  const steps = treeSteps(run, rootId, records)
  let step = steps.next()
  while (step.done !== true) step = steps.next()
  return step.value
}

/** The same in turns with other work, for a run that may be long. */
export const buildSpanTreePaced = async <S extends SpanPosition, E extends EventPosition, A>(
  run: Run,
  rootId: string,
  records: Records<S, E, A>,
  pace = new Pace(),
): Promise<Tree<S, E, A>> => {
  const steps = treeSteps(run, rootId, records)
  let step = steps.next()
  while (step.done !== true) {
    if (pace.due) await pace.rest()
    step = steps.next()
  }
  return step.value
}

/** Makes the tree, yielding after each part of the work. */
function* treeSteps<S extends SpanPosition, E extends EventPosition, A>(
  run: Run,
  rootId: string,
  records: Records<S, E, A>,
): Generator<void, Tree<S, E, A>> {
  const { spans, artifacts } = records
  const places = new Map<string, number>()
  for (const [index, { id }] of spans.entries()) places.set(id, index)
  const root = places.get(rootId)
  if (root === undefined) throw new RangeError(`Run ${run.trace_id} has no span ${rootId} that could be its root.`)
  yield
  const parents = parentsOf(spans, places, root)
  yield
  const events = eventsBySpan(records.events, places)
  yield
  const tree: TreeSpan<S, E>[] = []
  for (const { index, depth } of depthFirst(spans, parents, root)) {
    const parent = parents[index] ?? NONE
    tree.push(treeSpan(spans, index, parent, depth, events.get(index) ?? []))
    yield
  }
  return { run, spans: tree, events: events.get(NONE) ?? [], artifacts }
}

const treeSpan = <S extends SpanPosition, E>(
  spans: readonly S[],
  index: number,
  parent: number,
  depth: number,
  events: readonly E[],
): TreeSpan<S, E> => {
  const span = spans[index] as S
  const parent_id = spans[parent]?.id ?? null
  const declared = span.parent_id
  if (declared === null || declared === parent_id) return { ...span, parent_id, depth, events }
  return { ...span, parent_id, depth, declared_parent_id: declared, events }
}

/** The index of each span's parent in the tree; circles are cut and loose ends tied to the root. */
const parentsOf = (spans: readonly SpanPosition[], places: ReadonlyMap<string, number>, root: number): Int32Array => {
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

/** Events in order of time by the index of their span; under -1 those of the run and of missing spans. */
const eventsBySpan = <E extends EventPosition>(
  events: readonly E[],
  places: ReadonlyMap<string, number>,
): ReadonlyMap<number, readonly E[]> => {
  const grouped = new Map<number, E[]>()
  for (const index of byTime(events.map(({ time_ns }) => time_ns))) {
    const event = events[index] as E
    const span = (event.span_id === null ? undefined : places.get(event.span_id)) ?? NONE
    const group = grouped.get(span)
    if (group === undefined) grouped.set(span, [event])
    else group.push(event)
  }
  return grouped
}

/** The root and all below it, parents before children; without recursion, so that any depth will do. */
function* depthFirst(
  spans: readonly SpanPosition[],
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
