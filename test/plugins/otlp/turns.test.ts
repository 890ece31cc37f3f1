import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { fromOtlp, MetadataOnly } from '#lib/otlp'
import { Pace } from '#lib/time-slice'
import { withinLimits } from '../../../plugins/otlp/limits.ts'
import { keepAll, pairs, resourceSpans, span } from '../../kit/otlp-data.ts'

/** A pace that finds a turn over behind each step, and counts them. */
class Turns extends Pace {
  taken = 0

  constructor() {
    let now = 0
    super(() => (now += 5))
  }

  override rest(): Promise<void> {
    this.taken++
    return super.rest()
  }
}

describe('a request with many spans', () => {
  const spans = Array.from({ length: 300 }, (_, n) =>
    span({ spanId: (n + 1).toString(16).padStart(16, '0'), attributes: pairs({ host: 'h' }) }),
  )

  it('yields to other work between spans', async () => {
    const pace = new Turns()
    const { runs } = await fromOtlp(resourceSpans(spans), keepAll, pace)
    assert.equal(runs[0]?.spans.length, 300)
    assert.ok(pace.taken >= 600, String(pace.taken))
    const [run] = runs
    assert.ok(run)
    const cutting = new Turns()
    await withinLimits(run, new MetadataOnly(), cutting)
    assert.ok(cutting.taken >= 300, String(cutting.taken))
  })
})
