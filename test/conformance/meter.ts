import assert from 'node:assert/strict'
import { it } from 'node:test'
import fc from 'fast-check'
import type { ApiStyle, Reading } from 'guard-gateway/core'

/** A provider's reply as its bytes, and what a meter must read off it. */
export interface ReplySample {
  readonly name: string
  readonly status?: number
  readonly stream: boolean
  readonly text: string
  readonly reading: Partial<Reading>
}

const metered = (style: ApiStyle, sample: ReplySample, chunks: readonly Uint8Array[]): Reading => {
  const meter = style.meter({ status: sample.status ?? 200, stream: sample.stream })
  for (const chunk of chunks) meter.push(chunk)
  return meter.end()
}

/** Cuts bytes at these places, wherever they are. */
export const cutAt = (bytes: Buffer, places: readonly number[]): Buffer[] => {
  const cuts = [
    0,
    ...places.map((place) => place % (bytes.length + 1)).sort((left, right) => left - right),
    bytes.length,
  ]
  return cuts.slice(1).map((cut, index) => Buffer.from(bytes.subarray(cuts[index], cut)))
}

/** Checks what a style's meter reads off these replies, and that neither cuts nor junk disturb it. */
export const meterConforms = (style: ApiStyle, replies: readonly ReplySample[]): void => {
  for (const sample of replies) {
    it(`reads off a reply: ${sample.name}`, () => {
      const reading = metered(style, sample, [Buffer.from(sample.text)])
      const expected: Record<string, unknown> = { ...sample.reading }
      const found = Object.fromEntries(Object.keys(expected).map((key) => [key, reading[key as keyof Reading]]))
      assert.deepEqual(found, expected)
    })

    it(`reads the same however it is cut: ${sample.name}`, () => {
      const bytes = Buffer.from(sample.text)
      const whole = metered(style, sample, [bytes])
      const single = Array.from(bytes, (byte) => Uint8Array.of(byte))
      assert.deepEqual(metered(style, sample, single), whole)
      const places = fc.array(fc.nat(bytes.length), { maxLength: 12 })
      fc.assert(
        fc.property(places, (cuts) => assert.deepEqual(metered(style, sample, cutAt(bytes, cuts)), whole)),
        { seed: 1, numRuns: 60 },
      )
    })
  }

  it('reads junk and broken replies without throwing', () => {
    const junk = [
      '',
      '\n\n',
      'data: {\n\n',
      'data: null\n\n',
      'data: [1]\n\n',
      '{"usage":5,"choices":5,"output":5,"content":5}',
      'data: {"usage":5,"choices":[null,{"delta":5}],"type":"response.completed","response":5}\n\n',
      '<html>',
      '[]',
      '[',
      '[1,null,{"candidates":5},{"candidates":[null,{"content":{"parts":[null,5]}}],"usageMetadata":[]}]',
      '{"message":5,"done":1}\n{"message":{"tool_calls":[null,{"function":5}]}}\n{"a":"\n{}\n',
      '{'.repeat(50_000),
    ]
    for (const text of junk) {
      for (const stream of [true, false]) {
        for (const status of [200, 500]) {
          const reading = metered(style, { name: '', status, stream, text, reading: {} }, [Buffer.from(text)])
          assert.equal(reading.usage, null)
          assert.equal(reading.error === null, status === 200)
        }
      }
    }
  })
}
