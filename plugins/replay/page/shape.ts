import type { Trace, TreeSpan } from '#lib/trace'
import { occurrencesOf } from '../read/occurrences.ts'
import { endOf } from '../read/span-time.ts'

/** Properties derived from a run's tree, by span index. */
export interface Shape {
  readonly occurrences: ReadonlyMap<TreeSpan, number>
  /** Id to index, that of a span which another stands for too. */
  readonly places: ReadonlyMap<string, number>
  /** Index of the parent; -1 for the root. */
  readonly parents: Int32Array
  /** 1: the span is on the critical path. */
  readonly critical: Uint8Array
}

const shapes = new WeakMap<Trace, Shape>()

/** Computes the shape of a run once. */
export const shapeOfTrace = (trace: Trace): Shape => {
  const known = shapes.get(trace)
  if (known !== undefined) return known
  const { spans } = trace
  const parents = parentsOf(spans)
  const places = new Map(
    spans.flatMap(({ id, also_seen = [] }, at) => [id, ...also_seen.map((one) => one.id)].map((one) => [one, at])),
  )
  const shape = { occurrences: occurrencesOf(spans), places, parents, critical: criticalPath(spans, parents) }
  shapes.set(trace, shape)
  return shape
}

/** Parent of each span: the last preceding span of the level above. */
const parentsOf = (spans: readonly TreeSpan[]): Int32Array => {
  const above: number[] = []
  return Int32Array.from(spans, ({ depth }, at) => {
    above[depth] = at
    return depth === 0 ? -1 : (above[depth - 1] ?? -1)
  })
}

/** Walks back from the end of the run: the child that ended last, then the last one that ended before it began, recursively. */
const criticalPath = (spans: readonly TreeSpan[], parents: Int32Array): Uint8Array => {
  const critical = new Uint8Array(spans.length)
  const children = childrenByEnd(spans, parents)
  const open = spans.length === 0 ? [] : [0]
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    critical[at] = 1
    let before: bigint | undefined
    for (const child of children.get(at) ?? []) {
      const span = spans[child] as TreeSpan
      const [start_ns, end_ns] = [span.start_ns, endOf(span)]
      if (before !== undefined && (end_ns === null || end_ns > before)) continue
      before = start_ns
      open.push(child)
    }
  }
  return critical
}

/** Children by parent index, the last to end first; running ones lead. */
const childrenByEnd = (spans: readonly TreeSpan[], parents: Int32Array): ReadonlyMap<number, readonly number[]> => {
  const children = new Map<number, number[]>()
  for (const [at, parent] of parents.entries()) {
    const group = children.get(parent)
    if (group === undefined) children.set(parent, [at])
    else group.push(at)
  }
  for (const group of children.values()) group.sort((a, b) => laterEnd(spans[a], spans[b]))
  return children
}

const laterEnd = (a: TreeSpan | undefined, b: TreeSpan | undefined): number => {
  const [left, right] = [a === undefined ? null : endOf(a), b === undefined ? null : endOf(b)]
  if (left === right) return 0
  if (left === null || right === null) return left === null ? -1 : 1
  return left > right ? -1 : 1
}

/** `tool.call#2`; the root has no number. */
export const spanTitle = ({ occurrences }: Shape, span: TreeSpan): string =>
  span.parent_id === null ? span.name : `${span.name}#${occurrences.get(span) ?? 1}`
