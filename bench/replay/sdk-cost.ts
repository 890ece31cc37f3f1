import { createGuard } from 'guard-gateway/sdk'
import { type Figure, figure } from './figures.ts'

/** The cost of a recorded step for the program: the span alone, and with two attributes and an event. */
export const sdkCost = async (spans: number): Promise<readonly Figure[]> => {
  const guard = createGuard({
    handleExit: false,
    flushMs: 3_600_000,
    maxQueue: 1_000_000,
    fetch: async () => Response.json({ trace_id: 't', created: true, warnings: [] }, { status: 201 }),
  })
  const cost = async (step: (n: number) => void): Promise<number> => {
    await guard.trace('warm', () => {
      for (let n = 0; n < spans / 10; n++) step(n)
    })
    let spent = 0
    await guard.trace('bench', () => {
      const start = performance.now()
      for (let n = 0; n < spans; n++) step(n)
      spent = performance.now() - start
    })
    return (spent / spans) * 1_000
  }
  const plain = await cost(() => guard.span('step', () => {}))
  const full = await cost((n) =>
    guard.span('step', { path: 'src/index.ts', n }, (span) => span.event('done', { bytes: n })),
  )
  await guard.close()
  return [figure('SDK: span()', plain, 'µs'), figure('SDK: span() with two attributes and an event', full, 'µs')]
}
