// Compiled, never run: what the client library keeps of the types of the user's own code.
import { createGuard, type Span } from 'guard-gateway/sdk'

const guard = createGuard({ mask: (value, path) => (path.length > 3 ? null : value) })

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
const same = <A, B>(_holds: Same<A, B>): void => {}

const number = guard.span('sync', (span) => span.id.length)
same<typeof number, number>(true)
const promised = guard.span('async', { a: 1 }, async () => 'text')
same<typeof promised, Promise<string>>(true)
const traced = guard.trace('job', {}, async (trace) => {
  trace.tag('a', 'b')
  return 7 as const
})
same<typeof traced, Promise<7>>(true)
const plain = guard.trace('job', () => ({ a: true }))
same<typeof plain, Promise<{ a: boolean }>>(true)

function greet(this: { name: string }, greeting: string, times?: number): string {
  return `${greeting} ${this.name}`.repeat(times ?? 1)
}
same<ReturnType<typeof guard.wrap<typeof greet>>, typeof greet>(true)
export const generic = guard.wrap(<T>(value: T): T[] => [value])
export const strings: string[] = generic('a')
same<typeof guard.fetch, typeof globalThis.fetch>(true)

export const misuses = (span: Span): void => {
  // @ts-expect-error the first argument of the wrapped function is a text
  guard.wrap(greet).call({ name: 'x' }, 1)
  // @ts-expect-error a span has no callback of its own
  guard.span('name', { a: 1 })
  // @ts-expect-error artifacts belong to traces
  span.artifact({ path: 'a' })
  // @ts-expect-error only five failure tags exist
  void guard.trace('job', (trace) => trace.failureTag('unlucky'))
  // @ts-expect-error a mask gives back a leaf
  createGuard({ mask: (value) => ({ value }) })
  // @ts-expect-error nothing switches the built-in redaction off
  createGuard({ redact: false })
  // @ts-expect-error an id is not written
  span.id = 'x'
}
