import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { startReceiver } from './kit.ts'
import { understood } from './understood.ts'

const RECORDED = join(import.meta.dirname, '../../data/otlp-senders/otel-openai.json')

interface Span {
  readonly spanId: string
  readonly name: string
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
}

/** A wrapper of the same call: its span begins before and ends after it. */
const around = (span: Span, at: number): Span => ({
  ...span,
  spanId: `e${at}`.padEnd(16, '0'),
  startTimeUnixNano: String(BigInt(span.startTimeUnixNano) - 1_000n),
  endTimeUnixNano: String(BigInt(span.endTimeUnixNano) + 1_000n),
})

describe('two instrumentations of one client', () => {
  it('count each call once', async () => {
    const { resourceSpans } = JSON.parse(await readFile(RECORDED, 'utf8'))
    const [{ resource, scopeSpans }] = resourceSpans
    const calls = scopeSpans.flatMap(({ spans }: { spans: readonly Span[] }) => spans).filter(isCall)
    assert.equal(calls.length, 3)
    const wrapped = { scope: { name: 'framework' }, spans: calls.map(around) }
    const sumsOf = async (scopes: readonly unknown[]) => {
      await using receiver = await startReceiver()
      assert.deepEqual(await receiver.taken({ resourceSpans: [{ resource, scopeSpans: scopes }] }), {})
      return (await understood(receiver)).map(({ input_tokens, output_tokens }) => [input_tokens, output_tokens])
    }
    assert.deepEqual(await sumsOf(scopeSpans), [[2003, 43]])
    assert.deepEqual(await sumsOf([...scopeSpans, wrapped]), [[2003, 43]])
    assert.deepEqual(await sumsOf([wrapped, ...scopeSpans]), [[2003, 43]])
  })
})

const isCall = ({ name }: Span): boolean => name.startsWith('chat ')
